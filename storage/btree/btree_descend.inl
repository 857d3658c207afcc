// The descent. Included by btree_<mode>.cpp.
#pragma once

#include <algorithm>
#include <array>

#include "base/memory/aligned_buffer.h"
#include "storage/btree/btree.h"
#include "storage/btree/damage.h"
#include "storage/buffer/page_state.h"

namespace swizzle {

/// A cache miss costs memory latency, so prefetch the lines that a search in the page will read: of
/// a leaf also the slots, all of which a search may visit; a branch's search prefetches its own by
/// hints.
inline void prefetch_node(const Frame* frame, std::uint8_t parent_level) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kSlotLines = 8;
  const std::byte* page = frame->page();
  __builtin_prefetch(frame);
  __builtin_prefetch(page);
  __builtin_prefetch(page + kLine);
  if (parent_level != 1) return;
  for (std::size_t line = 0; line < kSlotLines; ++line)
    __builtin_prefetch(page + Node::kHeaderBytes + line * kLine);
}

template <class Pool>
bool BTree<Pool>::Descent::belongs_to_foster(const Node& node) const noexcept {
  if (bound == nullptr) return node.is_beyond(key);
  if (!node.has_foster()) return false;
  const KeyBound high = node.high_fence();
  return bound->is_infinite() || compare(high.key, bound->key) < 0;
}

template <class Pool>
std::uint16_t BTree<Pool>::Descent::child_of(const Node& node) const noexcept {
  if (bound == nullptr) return node.child_index(key);
  const std::uint16_t end = bound->is_infinite() ? node.count() : node.lower_bound(key).index;
  return end == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(end - 1);
}

/// True if a node is as its parent promised. This finds a damaged reference, a page in another's
/// place and a page whose last write was lost, all of which pass their checksums. The node may be
/// changing: the answer counts only if both guards are valid afterwards.
template <class Pool>
bool BTree<Pool>::Descent::is_as_promised(const Node& child) const noexcept {
  if (child.tree() != tree.id()) return false;
  if (reference_ == kRootReference)
    return child.low_fence().empty() && child.chain_high_fence().is_infinite();
  const Node& parent = Node::of(static_cast<const Frame*>(parent_)->page());
  if (reference_ == kFosterReference)
    return child.level() == parent.level() &&
           compare(child.low_fence(), parent.high_fence().key) == 0 &&
           child.chain_high_fence() == parent.chain_high_fence();
  if (child.level() + 1 != parent.level()) return false;
  std::array<std::byte, Node::kMaxKeyBytes> separator;
  const auto slot = static_cast<std::uint16_t>(reference_);
  const auto after = static_cast<std::uint16_t>(slot + 1);
  if (compare(child.low_fence(), {separator.data(), parent.copy_key(slot, separator.data())}) != 0)
    return false;
  if (after < parent.count())
    return child.chain_high_fence() == KeyBound::at({separator.data(), parent.copy_key(after, separator.data())});
  // While a tree is loaded its right edge is open.
  return parent.high_fence().is_infinite() || child.chain_high_fence() == parent.high_fence();
}

/// Compares a page that was read, before its first use. Later descents find it compared and read no
/// line of its parent for that, unless they want proof. A page whose promise is broken is never
/// marked as compared, so that each reader gets the error.
template <class Pool>
typename BTree<Pool>::Descent::Promise BTree<Pool>::Descent::compare_with_promise(
    Frame& child, ReadGuard& child_guard) noexcept {
  const bool is_kept = is_as_promised(Node::of(child.page()));
  if (!parent_guard_.valid() || !child_guard.valid()) return Promise::disturbed;
  if (!is_kept) return Promise::broken;
  if (child.is_compared()) return Promise::kept;
  if (tree.pool_.store().is_given_up(child.page_id())) [[unlikely]]
    return Promise::given_up;
  const LatchVersion version = child_guard.version();
  // Note it under the latch: otherwise the frame could have another page by then. If another thread
  // has the latch, that one, or a later reader, notes it.
  ExclusiveGuard alone = ExclusiveGuard::upgrade(child_guard);
  if (alone) PageState::compared(child);
  alone.release_unchanged();
  child_guard = ReadGuard(child.latch);
  return child_guard.version() == version ? Promise::kept : Promise::disturbed;
}

template <class Pool>
Error BTree<Pool>::Descent::broken_promise() const {
  const PageId parent = parent_->kind == Referrer::Kind::root_holder
                            ? PageId::none
                            : static_cast<const Frame*>(parent_)->page_id();
  return page_breaks_promise(tree.id(), broken_, parent, key);
}

/// Replaces the content of a clean page that was never compared, under its latch. No child of it is
/// in memory by address, since every descent compares first. (A page redone when it was read is as
/// the log says.)
template <class Pool>
bool BTree<Pool>::Descent::renew_broken() {
  const auto is_still_there = [this] {
    return broken_frame_->page_id() == broken_ && !broken_frame_->is_compared() &&
           broken_frame_->is_clean();
  };
  Lsn at = Lsn::none;
  {
    ExclusiveGuard alone = ExclusiveGuard::try_lock(broken_frame_->latch);
    if (!alone) return false;
    const bool is_there = is_still_there();
    at = Node::of(broken_frame_->page()).lsn();
    alone.release_unchanged();
    if (!is_there) return false;
  }
  AlignedBuffer renewed(kPageBytes);
  if (!tree.pool_.store().renew_doubted(broken_, at, renewed.data())) return false;
  const ExclusiveGuard alone = ExclusiveGuard::try_lock(broken_frame_->latch);
  if (!alone) return false;
  if (is_still_there() && Node::of(broken_frame_->page()).lsn() == at)
    std::memcpy(broken_frame_->page(), renewed.data(), kPageBytes);
  return true;
}

template <class Pool>
typename BTree<Pool>::Descent::Step BTree<Pool>::Descent::descend_once() noexcept {
  saw_foster = false;
  parent_ = &tree.root_;
  parent_guard_ = ReadGuard(tree.root_.latch);
  parent_hold_ = Hold{};
  at_ = &tree.root_.reference;
  reference_ = kRootReference;
  std::uint8_t parent_level = UINT8_MAX;
  while (true) {
    ref_ = load_ref(at_);
    // The reference may be torn off a page that is changing; nothing is done with it before this.
    if (!parent_guard_.valid()) return Step::restart;
    // The child may be the node itself or a foster child in its chain; an unswizzled node has no
    // swizzled foster child.
    const bool passes_by = interest == Interest::once && parent_level <= level + 1;
    Hold child = passes_by ? tree.pool_.follow_resident(ref_) : tree.pool_.follow(ref_);
    Frame* frame = child.frame();
    if (frame == nullptr) {
      wanted_ = passes_by ? Interest::once : Interest::keep;
      return Step::unresolved;
    }
    prefetch_node(frame, parent_level);

    const bool patient = parent_level == level + 1 && disturbances > kPatience;
    ReadGuard child_guard(frame->latch, patient ? ReadGuard::Manner::patient : ReadGuard::kUsual);
    // The child's version was taken while the parent still referred to it.
    if (!parent_guard_.valid()) return Step::restart;
    if (passes_by) [[unlikely]] {
      if (!Pool::is_still(child, ref_)) return Step::restart;
    } else if constexpr (Pool::kCountsUsage) {
      tree.pool_.used(*frame);
    }

    const Node& node_here = Node::of(frame->page());
    if (must_compare(*frame)) [[unlikely]] {
      const Promise promise = compare_with_promise(*frame, child_guard);
      if (promise != Promise::kept) {
        broken_ = frame->page_id();
        broken_frame_ = frame;
        if (promise == Promise::given_up) return Step::given_up;
        return promise == Promise::broken ? Step::broken_promise : Step::restart;
      }
    }
    const std::uint8_t level_here = node_here.level();
    // A node below the wanted level is the root of a lower tree.
    if (level_here >= level && belongs_to_foster(node_here)) [[unlikely]] {
      foster_hops = static_cast<std::uint16_t>(
          saw_foster && foster_level == level_here ? foster_hops + 1 : 1);
      saw_foster = true;
      foster_level = level_here;
      at_ = Node::of(frame->page()).foster_ref();
      reference_ = kFosterReference;
    } else if (level_here <= level) {
      hold = std::move(child);
      guard = std::move(child_guard);
      return Step::reached;
    } else {
      const std::uint16_t slot = child_of(node_here);
      at_ = Node::of(frame->page()).child_ref(slot);
      reference_ = slot;
    }
    parent_level = level_here;
    parent_ = frame;
    parent_hold_ = std::move(child);
    parent_guard_ = std::move(child_guard);
  }
}

/// The fast path of a descent: every page in memory and unchanging, no foster child on the way, no
/// latch taken. False: nothing was done; descend_once() handles the case.
template <class Pool>
bool BTree<Pool>::Descent::try_fast_path() noexcept {
  if constexpr (ReadGuard::kUsual != ReadGuard::Manner::optimistic) return false;
  const HybridLatch* parent = &tree.root_.latch;
  LatchVersion parent_version = parent->optimistic();
  PageRef ref = load_ref(&tree.root_.reference);
  std::uint8_t parent_level = UINT8_MAX;
  Hold parent_hold;
  while (true) {
    // The reference may be torn off a page that is changing; nothing is done with it before this.
    if (!parent->validate(parent_version)) return false;
    Hold child = tree.pool_.follow(ref);
    Frame* frame = child.frame();
    if (frame == nullptr) return false;
    prefetch_node(frame, parent_level);
    const LatchVersion version = frame->latch.optimistic();
    // The child's version was taken while the parent still referred to it.
    if (!parent->validate(parent_version)) return false;
    if constexpr (Pool::kCountsUsage) tree.pool_.used(*frame);

    const Node& node_here = Node::of(frame->page());
    if (!frame->is_compared() || node_here.is_beyond(key)) [[unlikely]]
      return false;
    const std::uint8_t level_here = node_here.level();
    if (level_here <= level) {
      hold = std::move(child);
      guard = ReadGuard(frame->latch, version);
      return true;
    }
    ref = load_ref(node_here.child_ref(node_here.child_index(key)));
    parent = &frame->latch;
    parent_version = version;
    parent_level = level_here;
    parent_hold = std::move(child);
  }
}

/// Uses the leaf that the hint remembers, if it is unchanged and covers the key. False: nothing was
/// done.
template <class Pool>
bool BTree<Pool>::Descent::try_hint() noexcept {
  if constexpr (ReadGuard::kUsual != ReadGuard::Manner::optimistic) return false;
  const LeafHint::Nearness nearness = hint->nearness(tree.id(), key);
  const bool is_far = nearness == LeafHint::Nearness::far;
  if (is_far && !hint->is_settled_in(tree.id())) return false;
  Frame& frame = hint->frame();
  Hold again = Pool::hold_again(frame);
  if (!frame.latch.validate(hint->version())) return false;
  const Node& leaf = Node::of(frame.page());
  // The leaf covers the remembered key, so a key near it can be beyond one side only.
  const bool asks_high = is_far || nearness == LeafHint::Nearness::behind;
  const bool asks_low = is_far || nearness == LeafHint::Nearness::before;
  if (asks_high && !leaf.high_fence().is_above(key)) return false;
  if (asks_low && compare(key, leaf.low_fence()) < 0) return false;
  if constexpr (Pool::kCountsUsage) tree.pool_.used(frame);
  hold = std::move(again);
  guard = ReadGuard(frame.latch, hint->version());
  return true;
}

template <class Pool>
Result<> BTree<Pool>::Descent::run() {
  // More than the levels of any tree, but for long chains.
  constexpr std::uint32_t kMostMisses = 16;
  guard.release();
  saw_foster = false;
  if (bound == nullptr && disturbances == 0 && interest == Interest::keep) [[likely]] {
    if (hint != nullptr && try_hint()) return {};
    if (try_fast_path()) [[likely]]
      return {};
  }
  std::uint32_t misses = 0;
  while (true) {
    switch (descend_once()) {
      case Step::reached:
        parent_guard_.release();
        return {};
      case Step::restart:
        parent_guard_.release();
        disturbed();
        break;
      case Step::unresolved:
        // Pages of Interest::once may evict each other from one frame forever: a node and its
        // foster child, if all other frames are used.
        if (++misses > kMostMisses) interest = Interest::keep;
        // The tree is being emptied; this reader began before it was loaded.
        if (ref_.is_none()) [[unlikely]]
          return fail(
              met_in_tree(tree.id(), key, Error{sqlstate::data_corrupted, "a branch has no children"}));
        if (auto resolved = tree.pool_.resolve(*parent_, parent_guard_, at_, ref_, wanted_);
            !resolved)
          return fail(met_in_tree(tree.id(), key, std::move(resolved).error()));
        break;
      case Step::broken_promise:
        parent_guard_.release();
        if (!renew_broken()) return fail(broken_promise());
        break;
      case Step::given_up:
        if (auto why = tree.pool_.store().given_up(broken_))
          return fail(met_in_tree(tree.id(), key, std::move(*why)));
        break;
    }
    parent_guard_.release();
  }
}

// Prefetches without acting on the values that it reads: if a page is changing, or replaced, only
// the wrong cache lines come (R-4).
template <class Pool>
std::size_t BTree<Pool>::prefetch(std::span<const Bytes> keys,
                                  std::span<LeafHint> leaves) noexcept {
  // Number of cache misses that a processor can have in flight.
  constexpr std::size_t kAtOnce = 16;
  std::array<Frame*, kAtOnce> frames{};
  std::size_t remembered = 0;
  while (!keys.empty()) {
    const std::span<const Bytes> some = keys.first(std::min(kAtOnce, keys.size()));
    for (std::size_t i = 0; i < some.size(); ++i) {
      Descent descent(*this, some[i], 0);
      frames[i] = descent.try_fast_path() ? &descent.frame() : nullptr;
      if (frames[i] != nullptr && remembered < leaves.size())
        leaves[remembered++].remember(id(), some[i], *frames[i], descent.guard.version());
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      // The search prefetches the record that it finds.
      if (frames[i] != nullptr) static_cast<void>(Node::of(frames[i]->page()).lower_bound(some[i]));
    }
    keys = keys.subspan(some.size());
  }
  return remembered;
}

template <class Pool>
Result<> BTree<Pool>::copy_leaf(Bytes key, LeafCopy& into) {
  return read(key, [&](const Node& leaf, Node::Position /*at*/) {
    std::memcpy(into.page.data(), &leaf, kPageBytes);
  });
}

template <class Pool>
Result<PageId> BTree<Pool>::doubt_leaf(Bytes key) {
  Descent descent(*this, key, 0);
  while (true) {
    RETURN_IF_ERROR(descent.run());
    const ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) {
      descent.disturbed();
      continue;
    }
    PageState::doubted(descent.frame());
    return descent.frame().page_id();
  }
}

template <class Pool>
Result<> BTree<Pool>::copy_leaf_below(const KeyBound& bound, LeafCopy& into) {
  Descent descent(*this, bound, 0);
  while (true) {
    RETURN_IF_ERROR(descent.run());
    std::memcpy(into.page.data(), &descent.node(), kPageBytes);
    if (descent.guard.valid()) return {};
    descent.disturbed();
  }
}

}  // namespace swizzle
