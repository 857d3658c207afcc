#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "storage/btree/btree.h"
#include "storage/btree/map_change.h"
#include "storage/btree/node_layout.h"
#include "storage/buffer/compare/main_memory_pool.h"
#include "storage/buffer/compare/traditional_pool.h"
#include "storage/buffer/swizzling_pool.h"
#include "storage/testing/memory_store.h"

namespace swizzle::testing {

template <class Pool>
std::unique_ptr<Pool> make_pool(std::uint32_t frames, PageStore& store,
                                const ReplacementOptions& replacement, std::uint32_t partitions) {
  auto arena = FrameArena::map(std::uint64_t{frames} * Frame::kStride, partitions);
  if constexpr (std::is_same_v<Pool, MainMemoryPool>)
    return std::make_unique<Pool>(std::move(*arena), store, node_layout());
  else
    return std::make_unique<Pool>(std::move(*arena), store, node_layout(), replacement);
}

/// A tree over a pool of `frames`, used as a map.
template <class Pool>
class TreeHarness {
 public:
  explicit TreeHarness(std::uint32_t frames, const ReplacementOptions& replacement = {},
                       std::uint32_t partitions = 1)
      : pool(make_pool<Pool>(frames, store, replacement, partitions)) {
    store.clean_for(*pool);
    tree = std::move(*BTree<Pool>::create(*pool, log, keeper, TreeId{7}, nullptr));
  }

  bool insert(std::string_view key, std::string_view value, LeafHint* hint = nullptr) {
    return apply(LeafChange::Action::insert, key, value, hint);
  }
  bool update(std::string_view key, std::string_view value, LeafHint* hint = nullptr) {
    return apply(LeafChange::Action::update, key, value, hint);
  }
  bool remove(std::string_view key, LeafHint* hint = nullptr) {
    return apply(LeafChange::Action::remove, key, {}, hint);
  }
  std::optional<std::string> get(std::string_view key, LeafHint* hint = nullptr) {
    std::optional<std::string> found;
    const auto visit = [&](const Node& leaf, Node::Position at) {
      found.reset();
      if (at.exact && !leaf.is_ghost(at.index)) found = std::string(as_text(leaf.value(at.index)));
    };
    INVARIANT(tree->read(as_bytes(key), visit, Interest::keep, hint).has_value());
    return found;
  }

  MemoryStore store;
  NoTreeLog log;
  NoGhostIsNeeded keeper;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<BTree<Pool>> tree;

 private:
  bool apply(LeafChange::Action action, std::string_view key, std::string_view value,
             LeafHint* hint) {
    MapChange change(action, as_bytes(value));
    auto result = tree->change(as_bytes(key), nullptr, change, hint);
    if (!result) {
      std::fprintf(stderr, "change failed: %s\n", result.error().message().c_str());
      std::abort();
    }
    return change.done();
  }
};

}  // namespace swizzle::testing
