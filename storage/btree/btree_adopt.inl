// Foster children move to their parents. Included by btree_<mode>.cpp.
#pragma once

#include "base/runtime/runtime.h"
#include "storage/btree/btree.h"

namespace swizzle {

template <class Pool>
void BTree<Pool>::tidy_after(const Descent& descent, Bytes key) noexcept {
  // Each foster child costs every lookup behind it a hop: beyond a few of them they are adopted
  // even if that means waiting.
  const auto insistence = descent.foster_hops > kLongChain ? Insistence::until_adopted
                                                           : Insistence::if_nobody_is_in_the_way;
  // Errors (a full log, no free page) leave the foster chain for another descent.
  if (!adopt(key, descent.foster_level, insistence))
    counters_.adoptions_refused.fetch_add(1, std::memory_order_relaxed);
}

/// Lets the parent adopt the foster children of the node of `key` at `child_level`. Holds no latch
/// while it waits for another: it releases its latches and descends again.
template <class Pool>
Result<> BTree<Pool>::adopt(Bytes key, std::uint8_t child_level, Insistence insistence) {
  constexpr std::size_t kPayload = kAdoptedAtOnce * (payload::kMaxHeadBytes + Node::kMaxKeyBytes);
  // Repeated failure means that another thread adopts, splits or merges here.
  std::uint32_t tries_left = insistence == Insistence::until_adopted ? 1000 : 1;
  ASSIGN_OR_RETURN(Preparation prepared, prepare(kPayload, kAdoptedAtOnce));
  const auto parent_level = static_cast<std::uint8_t>(child_level + 1);
  Descent descent(*this, key, parent_level);
  while (true) {
    RETURN_IF_ERROR(descent.run());
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) {
      // A later descent tries again.
      if (--tries_left == 0) return {};
      counters_.branch_waits.fetch_add(1, std::memory_order_relaxed);
      descent.disturbed();
      Runtime::current().relax();
      continue;
    }
    counters_.branch_latches.fetch_add(1, std::memory_order_relaxed);
    Frame& frame = descent.frame();
    const Node& node = Node::of(frame.page());
    // A lower node is the root of a lower tree.
    const bool root_must_grow = node.level() < parent_level && node.has_foster();
    if (!root_must_grow) {
      const Adoption adoption = node.level() < parent_level
                                    ? Adoption::not_now
                                    : adopt_latched(frame, key, prepared.space);
      if (adoption == Adoption::not_now || adoption == Adoption::child_busy)
        hold.release_unchanged();
      if (adoption == Adoption::child_busy && --tries_left > 0) {
        Runtime::current().relax();
        continue;
      }
      if (adoption != Adoption::parent_full) return {};
    }
    if (!prepared.page) {
      const PageId near = node.id();
      hold.release_unchanged();
      RETURN_IF_ERROR(prepare_new_page(prepared, kPayload, kAdoptedAtOnce, near));
      continue;
    }
    if (root_must_grow)
      grow_root(frame, prepared);
    else
      split(frame, prepared, key);
  }
}

/// Adopts as many of the chain as there is room for in the log. Pre: `parent` is held exclusively.
template <class Pool>
typename BTree<Pool>::Adoption BTree<Pool>::adopt_latched(Frame& parent_frame, Bytes key,
                                                          LogSpace& space) noexcept {
  const std::uint16_t first = Node::of(parent_frame.page()).child_index(key);
  for (std::size_t done = 0; done < kAdoptedAtOnce; ++done) {
    const auto index = static_cast<std::uint16_t>(first + done);
    const Adoption adoption = adopt_from(parent_frame, index, space);
    if (adoption != Adoption::done) return done == 0 ? adoption : Adoption::done;
  }
  return Adoption::done;
}

/// Adopts the foster child of the parent's child number `index`.
template <class Pool>
typename BTree<Pool>::Adoption BTree<Pool>::adopt_from(Frame& parent_frame, std::uint16_t index,
                                                       LogSpace& space) noexcept {
  Node& parent = Node::of(parent_frame.page());
  const Hold hold = pool_.follow(load_ref(parent.child_ref(index)));
  Frame* child_frame = hold.frame();
  if (child_frame == nullptr) return Adoption::not_now;
  // Waiting here would hold the parent while asking for the child. That is no deadlock, since a
  // split of the child never asks for the parent, but every descent passes the parent.
  const ExclusiveGuard child_hold = ExclusiveGuard::try_lock(child_frame->latch);
  if (!child_hold) return Adoption::child_busy;
  // A page that no descent has compared may be old, or another's: do not use its fence.
  if (!child_frame->is_compared()) return Adoption::not_now;
  Node& child = Node::of(child_frame->page());
  if (!child.has_foster()) return Adoption::not_now;
  const Bytes separator = child.high_fence().key;
  if (!parent.has_room(separator.size(), 0)) return Adoption::parent_full;

  const PageRef foster = load_ref(child.foster_ref());
  const PageId foster_page = foster.is_swizzled()
                                 ? foster.frame()->page_id()
                                 : foster.page();
  const payload::Head head = head_of(payload::KeyAndPage{separator, foster_page});
  log_change(space, RecordKind::foster_adopted, parent_frame, child_frame,
             std::array<Bytes, 2>{head.span(), separator});
  parent_frame.inserts.note(static_cast<std::uint16_t>(index + 1), parent.count());
  parent.insert_branch(static_cast<std::uint16_t>(index + 1), separator, foster);
  pool_.moved(foster, parent_frame);
  child.drop_foster();
  counters_.adoptions.fetch_add(1, std::memory_order_relaxed);
  return Adoption::done;
}

}  // namespace swizzle
