// Checking a whole tree. Included by btree_<mode>.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/runtime.h"
#include "storage/btree/btree.h"
#include "storage/btree/damage.h"

namespace swizzle {

/// Walks each level by keys, from the end of one node to the begin of the next, on copies.
/// Concludes nothing from two copies: between them the tree may have changed.
template <class Pool>
class BTree<Pool>::Inspection {
 public:
  explicit Inspection(BTree& tree) noexcept : tree_(tree) {}

  Result<> run() {
    ASSIGN_OR_RETURN(const bool is_readable, try_copy(kRootLevel));
    if (!is_readable) return {};
    height_ = copy_.node().level();
    for (std::uint8_t level = 0; level <= height_; ++level) RETURN_IF_ERROR(walk(level));
    return {};
  }
  std::vector<std::string> violations;
  std::vector<PageId> pages;

 private:
  Result<> walk(std::uint8_t level) {
    from_.clear();
    while (true) {
      let_others_in();
      ASSIGN_OR_RETURN(const bool is_readable, try_copy(level));
      // The tree was emptied meanwhile and has become lower.
      if (is_readable && copy_.node().level() < level) return {};
      if (!is_readable || !look_at_copy()) {
        ASSIGN_OR_RETURN(const bool goes_on, pass_by(level));
        if (!goes_on) return {};
        continue;
      }
      const KeyBound high = copy_.node().high_fence();
      if (high.is_infinite()) return {};
      from_.assign(high.key.begin(), high.key.end());
    }
  }

  /// Returns false if it does not tell where the next node begins.
  bool look_at_copy() {
    const Node& node = copy_.node();
    if (std::string violation = node.verify(); !violation.empty()) {
      violations.push_back(std::move(violation));
      return false;
    }
    pages.push_back(node.id());
    if (node.high_fence().is_above(from_)) return true;
    violations.push_back(
        fmt::format("B6 violated on page {}: its chain does not end where its parent says",
                    raw(node.id())));
    return false;
  }

  /// Copies the node that covers `from_`, reached by kept promises only. False: there is none.
  Result<bool> try_copy(std::uint8_t level) {
    Descent descent(tree_, from_, level);
    // The page will not be needed again.
    descent.interest = Interest::once;
    descent.expects = Descent::Expects::proof;
    do {
      auto reached = descent.run();
      if (!reached) {
        if (!is_unreadable(reached.error())) return fail(std::move(reached).error());
        // A damaged branch is also met on the way to the nodes below it.
        if (std::ranges::find(violations, reached.error().message()) == violations.end())
          violations.push_back(reached.error().message());
        return false;
      }
      std::memcpy(copy_.page.data(), &descent.node(), kPageBytes);
    } while (!is_undisturbed(descent));
    return true;
  }
  static bool is_undisturbed(Descent& descent) {
    if (descent.guard.valid()) return true;
    descent.disturbed();
    return false;
  }

  /// Goes on where the next node of `level` begins, according to the readable nodes above. False:
  /// there is none.
  Result<bool> pass_by(std::uint8_t level) {
    const std::size_t known = violations.size();
    for (std::uint8_t above = level; above < height_;) {
      ASSIGN_OR_RETURN(const bool is_readable, try_copy(++above));
      violations.resize(known);
      if (is_readable && copy_.node().level() == above && copy_.node().verify().empty())
        return begin_behind(copy_.node());
    }
    return false;
  }
  bool begin_behind(const Node& parent) {
    const auto next = static_cast<std::uint16_t>(parent.child_index(from_) + 1);
    std::array<std::byte, Node::kMaxKeyBytes> key;
    const KeyBound begins = next < parent.count()
                                ? KeyBound::at({key.data(), parent.copy_key(next, key.data())})
                                : parent.high_fence();
    if (begins.is_infinite() || !begins.is_above(from_)) return false;
    from_.assign(begins.key.begin(), begins.key.end());
    return true;
  }

  void let_others_in() {
    constexpr std::uint32_t kAtOnce = 32;
    if (++looked_at_ % kAtOnce == 0) Runtime::current().yield();
  }

  BTree& tree_;
  LeafCopy copy_;
  std::uint8_t height_ = 0;
  std::vector<std::byte> from_;
  std::uint32_t looked_at_ = 0;
};

template <class Pool>
Result<std::vector<std::string>> BTree<Pool>::verify() {
  const auto inspection = std::make_unique<Inspection>(*this);
  RETURN_IF_ERROR(inspection->run());
  return std::move(inspection->violations);
}

template <class Pool>
Result<std::vector<PageId>> BTree<Pool>::pages() {
  const auto inspection = std::make_unique<Inspection>(*this);
  RETURN_IF_ERROR(inspection->run());
  if (!inspection->violations.empty())
    return fail(sqlstate::index_corrupted, inspection->violations.front());
  return std::move(inspection->pages);
}

}  // namespace swizzle
