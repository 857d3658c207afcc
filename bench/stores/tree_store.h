#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "base/invariant.h"
#include "base/result.h"
#include "storage/btree/btree.h"
#include "storage/btree/map_change.h"
#include "storage/btree/node_layout.h"
#include "storage/buffer/compare/main_memory_pool.h"
#include "storage/buffer/compare/traditional_pool.h"
#include "storage/buffer/swizzling_pool.h"

namespace swizzle::bench {

/// Page store that only gives page numbers, for trees that stay in memory. Reading a page or
/// evicting a frame means that the experiment's sizes are wrong.
class NoDisk final : public PageStore {
 public:
  Result<Lsn> read_page(PageId /*page*/, std::byte* /*into*/) override {
    return fail(sqlstate::io_error, "this experiment has no disk: its pool is too small");
  }
  Result<PageId> reserve_page(std::optional<PageId> /*near*/) override {
    return PageId{next_.fetch_add(1, std::memory_order_relaxed)};
  }
  void cancel_reservation(PageId /*page*/) noexcept override {}
  void mark_allocated(PageId /*page*/) noexcept override {}
  void mark_free(PageId /*page*/) noexcept override {}
  [[nodiscard]] bool is_allocated(PageId page) const noexcept override {
    return raw(page) < next_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> next_{1};
};

template <class Pool>
constexpr std::string_view name_of() noexcept {
  if constexpr (std::is_same_v<Pool, SwizzlingPool>) return "swizzling";
  if constexpr (std::is_same_v<Pool, TraditionalPool>) return "traditional";
  if constexpr (std::is_same_v<Pool, MainMemoryPool>) return "main_memory";
}

/// A tree over a pool mode without log, locks and versions, as compared in the papers about buffer
/// pools. Thread-safe.
template <class Pool>
class TreeStore {
 public:
  static Result<std::unique_ptr<TreeStore>> create(PageStore& pages, std::uint64_t pool_bytes,
                                                   const ReplacementOptions& replacement = {}) {
    ASSIGN_OR_RETURN(auto store, with_pool(pages, pool_bytes, replacement));
    ASSIGN_OR_RETURN(store->tree_, BTree<Pool>::create(*store->pool_, store->log_, store->ghosts_,
                                                       TreeId{1}, nullptr));
    return store;
  }
  /// Opens an existing tree.
  static Result<std::unique_ptr<TreeStore>> open(PageStore& pages, PageId root,
                                                 std::uint64_t pool_bytes,
                                                 const ReplacementOptions& replacement = {}) {
    ASSIGN_OR_RETURN(auto store, with_pool(pages, pool_bytes, replacement));
    store->tree_ =
        std::make_unique<BTree<Pool>>(*store->pool_, store->log_, store->ghosts_, TreeId{1}, root);
    if constexpr (std::is_same_v<Pool, MainMemoryPool>) {
      RETURN_IF_ERROR(store->pool_->load_tree(store->tree_->root()));
    }
    return store;
  }

  /// Copies the value to `into`. Returns the number of bytes, or 0 if the key does not exist. An
  /// I/O error ends the experiment.
  std::size_t get(Bytes key, MutableBytes into) {
    std::size_t size = 0;
    const Result<> read = tree_->read(key, [&](const Node& leaf, Node::Position at) {
      size = 0;
      if (!at.exact || leaf.is_ghost(at.index)) return;
      const Bytes value = leaf.value(at.index);
      size = std::min(value.size(), into.size());
      std::memcpy(into.data(), value.data(), size);
    });
    if (!read) throw std::runtime_error(read.error().message());
    return size;
  }

  bool insert(Bytes key, Bytes value) { return put(LeafChange::Action::insert, key, value); }
  bool update(Bytes key, Bytes value) { return put(LeafChange::Action::update, key, value); }

  [[nodiscard]] Pool& pool() noexcept { return *pool_; }
  [[nodiscard]] BTree<Pool>& tree() noexcept { return *tree_; }

 private:
  TreeStore() = default;
  static Result<std::unique_ptr<TreeStore>> with_pool(PageStore& pages, std::uint64_t pool_bytes,
                                                      const ReplacementOptions& replacement) {
    ASSIGN_OR_RETURN(FrameArena arena, FrameArena::map(pool_bytes));
    std::unique_ptr<TreeStore> store{new TreeStore};
    if constexpr (std::is_same_v<Pool, MainMemoryPool>)
      store->pool_ = std::make_unique<Pool>(std::move(arena), pages, node_layout());
    else
      store->pool_ = std::make_unique<Pool>(std::move(arena), pages, node_layout(), replacement);
    return store;
  }
  bool put(LeafChange::Action action, Bytes key, Bytes value) {
    MapChange change{action, value};
    const Result<> changed = tree_->change(key, nullptr, change);
    if (!changed) throw std::runtime_error(changed.error().message());
    return change.done();
  }

  NoTreeLog log_;
  NoGhostIsNeeded ghosts_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<BTree<Pool>> tree_;
};

}  // namespace swizzle::bench
