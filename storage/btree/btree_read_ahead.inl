// Read-ahead of leaves before a scan reaches them. Included by btree_<mode>.cpp.
#pragma once

#include "storage/btree/btree.h"

namespace swizzle {

template <class Pool>
Result<LeavesAhead> BTree<Pool>::read_ahead(Bytes key, std::uint32_t most, Interest interest) {
  Descent branch(*this, key, 1);
  return read_ahead(branch, most, interest);
}

template <class Pool>
Result<LeavesAhead> BTree<Pool>::read_ahead_below(const KeyBound& bound, std::uint32_t most,
                                                  Interest interest) {
  Descent branch(*this, bound, 1);
  return read_ahead(branch, most, interest);
}

namespace detail {

inline std::optional<std::vector<std::byte>> copy_of_key(const Node& node, std::uint16_t index) {
  std::vector<std::byte> key(Node::kMaxKeyBytes);
  key.resize(node.copy_key(index, key.data()));
  return key;
}
/// Returns the key at which the children of the branch not yet passed begin, or its right
/// neighbour.
inline std::optional<std::vector<std::byte>> key_behind(const Node& branch, std::uint16_t child) {
  if (child < branch.count()) return copy_of_key(branch, child);
  const KeyBound fence = branch.high_fence();
  if (fence.is_infinite()) return std::nullopt;
  return std::vector<std::byte>(fence.key.begin(), fence.key.end());
}
/// The same for scans backward: the key at which they end.
inline std::optional<std::vector<std::byte>> key_before(const Node& branch, std::uint16_t child) {
  if (child > 0) return copy_of_key(branch, child);
  const Bytes fence = branch.low_fence();
  if (fence.empty()) return std::nullopt;
  return std::vector<std::byte>(fence.begin(), fence.end());
}

}  // namespace detail

template <class Pool>
Result<LeavesAhead> BTree<Pool>::read_ahead(Descent& branch, std::uint32_t most,
                                            Interest interest) {
  LeavesAhead ahead;
  ClaimedPages claimed;
  while (true) {
    RETURN_IF_ERROR(branch.run());
    Node& node = branch.node();
    // The root is a leaf, and the scan has it.
    if (node.is_leaf()) return LeavesAhead{};
    ahead.leaves = 0;
    const std::uint16_t first = branch.child_of(node);
    std::uint16_t at = first;
    if (branch.bound == nullptr) {
      while (at < node.count() && ahead.leaves < most) {
        claim_absent(branch.guard, node.child_ref(at++), claimed);
        ++ahead.leaves;
      }
      ahead.next = detail::key_behind(node, at);
    } else {
      // `at` is one beyond the next child.
      at = static_cast<std::uint16_t>(std::min<int>(first + 1, node.count()));
      while (at > 0 && ahead.leaves < most) {
        claim_absent(branch.guard, node.child_ref(--at), claimed);
        ++ahead.leaves;
      }
      ahead.next = detail::key_before(node, at);
    }
    const bool is_true = branch.guard.valid();
    branch.guard.release();
    ahead.absent += claimed.count;
    // Read the claimed pages even if the branch changed meanwhile: they were absent, and readers
    // wait for the claims.
    pool_.read_ahead({claimed.pages.data(), claimed.count}, interest);
    if (is_true) return ahead;
    claimed.count = 0;
    branch.disturbed();
  }
}

template <class Pool>
Result<WantedAhead> BTree<Pool>::read_ahead_of(Bytes key, std::uint8_t level,
                                               std::span<const PageId> wanted) {
  constexpr std::uint32_t kMost = 32;
  Descent branch(*this, key, level);
  while (true) {
    RETURN_IF_ERROR(branch.run());
    Node& node = branch.node();
    WantedAhead ahead;
    ahead.level = node.level();
    ClaimedPages claimed;
    if (!node.is_leaf()) {
      std::uint16_t at = branch.child_of(node);
      for (; at < node.count() && claimed.count < kMost; ++at) {
        const PageRef ref = load_ref(node.child_ref(at));
        if (!branch.guard.valid()) break;
        const PageId page = ref.is_swizzled() ? ref.frame()->page_id() : ref.page();
        if (!std::ranges::binary_search(wanted, page)) continue;
        claim_absent(branch.guard, node.child_ref(at), claimed);
        // A branch is identified by its low fence, which is its key in the parent.
        if (ahead.level > 1) ahead.branches.push_back(*detail::copy_of_key(node, at));
      }
      // The level's next branch has a key of its own in the parent; a foster child has none.
      if (at < node.count() || node.has_foster()) ahead.next = detail::key_behind(node, at);
    }
    const bool is_true = branch.guard.valid();
    branch.guard.release();
    ahead.absent = claimed.count;
    // Read the claimed pages even if the branch changed meanwhile, as above.
    pool_.read_ahead({claimed.pages.data(), claimed.count}, Interest::keep);
    if (is_true) return ahead;
    branch.disturbed();
  }
}

template <class Pool>
void BTree<Pool>::claim_absent(const ReadGuard& branch, const PageRef* at, ClaimedPages& claimed) {
  const PageRef ref = load_ref(at);
  if (!branch.valid() || ref.is_swizzled() || claimed.count == claimed.pages.size()) return;
  if (!pool_.try_claim(ref.page())) return;
  // As in resolve(): the page was absent only if the reference is unchanged after the claim.
  if (load_ref(at) == ref && branch.valid())
    claimed.pages[claimed.count++] = ref.page();
  else
    pool_.give_back(ref.page());
}

}  // namespace swizzle
