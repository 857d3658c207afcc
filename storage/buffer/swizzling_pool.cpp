#include "storage/buffer/swizzling_pool.h"

#include <algorithm>

#include "storage/buffer/page_state.h"
#include "storage/buffer/pool_fault.h"

namespace swizzle {
namespace {

/// True if the swizzling pool has its own form of the policy.
bool is_pool_s_own(Replacement policy) noexcept {
  return policy == Replacement::clock_sweep || policy == Replacement::cooling_fifo;
}

}  // namespace

SwizzlingPool::SwizzlingPool(FrameArena arena, PageStore& store, PageLayout layout,
                             const ReplacementOptions& options)
    : PagedPool(std::move(arena), store, layout,
                is_pool_s_own(options.policy) ? ReplacementOptions{} : options),
      replacement_(options.policy),
      cooling_target_(std::max(2U, static_cast<std::uint32_t>(std::uint64_t{arena_.count()} *
                                                              options.cooling_percent / 100))),
      cooling_(arena_),
      random_(options.seed) {
  // This policy does not use the number of uses of a page.
  if (replacement_ == Replacement::cooling_fifo) entry_usage_ = Frame::kMaxUsage;
}

void SwizzlingPool::register_root(RootHolder& holder) {
  const std::lock_guard hold(roots_mutex_);
  roots_.push_back(&holder);
}

void SwizzlingPool::unregister_root(RootHolder& holder) noexcept {
  const std::lock_guard hold(roots_mutex_);
  std::erase(roots_, &holder);
}

Result<> SwizzlingPool::resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref,
                                Interest interest) {
  const PageId page = ref.page();
  switch (table_.try_claim_read(page)) {
    case PageTable::Claim::resident:
      if (interest == Interest::keep)
        swizzle(parent, guard, at, page);
      else
        guard.release();
      return {};
    case PageTable::Claim::being_read:
      guard.release();
      return table_.wait_for_read(page);
    case PageTable::Claim::reader:
      break;
  }
  // A swizzler stores the address before it takes the page out of the table. So if the reference
  // still stands now, after the claim, the page was absent and not just on its way from the table
  // into its parent.
  const bool absent = load_ref(at) == ref && guard.valid();
  guard.release();
  if (!absent) {
    table_.finish_read(page, nullptr, nullptr);
    return {};
  }
  return read_claimed(page, interest);
}

void SwizzlingPool::swizzle(Referrer& parent, ReadGuard& guard, PageRef* at, PageId page) noexcept {
  if (!guard.try_upgrade()) return;
  ExclusiveGuard hold(parent.latch, ExclusiveGuard::Adopt{});
  Frame* frame = may_hold_addresses(parent) ? table_.find(page) : nullptr;
  if (frame == nullptr) {
    hold.release_unchanged();
    return;
  }
  store_ref(at, PageRef{frame});
  if (!table_.remove(*frame, page)) {
    // The evictor was faster; the frame may have another page, and be in the table with that.
    // Readers may have seen the address: the new version tells them.
    store_ref(at, PageRef{page});
    return;
  }
  PageState::swizzle(*frame, parent);
  counters_.swizzled.fetch_add(1, std::memory_order_relaxed);
  // Both forms of the reference lead to the same page, so readers need not restart.
  hold.release_unchanged();
}

PageRef SwizzlingPool::adopt_new(Referrer& parent, Frame& child) noexcept {
  note_entry(child);
  if (may_hold_addresses(parent)) {
    PageState::become_child(child, parent);
    return PageRef{&child};
  }
  PageState::become_resident(child);
  table_.insert(child);
  enqueue(child);
  return PageRef{child.page_id()};
}

void SwizzlingPool::moved(PageRef ref, Referrer& to) noexcept {
  if (ref.is_swizzled()) PageState::move(*ref.frame(), to);
}

void SwizzlingPool::enqueue(Frame& frame) noexcept {
  if (policy_ != nullptr) return;
  page_pause(PagePause::before_queue);
  if (PageState::enter_queue(frame)) cooling_.push(arena_, frame);
}

std::uint32_t SwizzlingPool::free_some(PageId incoming, std::uint32_t wanted) noexcept {
  if (policy_ != nullptr) return free_by_policy(incoming);
  const std::uint32_t cooling = cooling_.size();
  if (cooling < cooling_target_) {
    // The queue fills over many rounds: a thread that evicts is occupied no longer than for one.
    constexpr std::uint32_t kCooledAtOnce = 512;
    const std::uint32_t missing = std::min(cooling_target_ - cooling, kCooledAtOnce);
    if (replacement_ == Replacement::cooling_fifo)
      cool_at_random(missing);
    else
      sweep(missing);
  }
  return run_clock_hand(wanted);
}

bool SwizzlingPool::try_empty(Frame& frame) noexcept {
  if (frame.state() == FrameState::swizzled && (!frame.is_clean() || !unswizzle_by_parent(frame)))
    return false;
  return try_empty_unswizzled(frame);
}

std::uint32_t SwizzlingPool::run_clock_hand(std::uint32_t wanted) noexcept {
  std::uint32_t freed = 0;
  const std::uint32_t most = std::min(cooling_.size(), kMostSteps);
  std::uint32_t looked_at = 0;
  while (looked_at < most && freed < wanted) {
    Frame* frame = cooling_.pop(arena_);
    if (frame == nullptr) break;
    ++looked_at;
    if (visit_by_clock(*frame)) ++freed;
  }
  note_steps(looked_at);
  return freed;
}

/// Visits a frame that the clock hand has taken out of the queue. It goes back, or is no longer
/// queued, before it is unlatched: a free of a page leaves a queued frame to the hand, and frees
/// every other one itself. True: the frame is on the free list.
bool SwizzlingPool::visit_by_clock(Frame& frame) noexcept {
  ExclusiveGuard hold = ExclusiveGuard::try_lock(frame.latch);
  if (!hold) {
    cooling_.push(arena_, frame);
    return false;
  }
  const FrameState state = frame.state();
  if (state == FrameState::swizzled) {
    PageState::leave_queue(frame);
    hold.release_unchanged();
    return false;
  }
  const std::uint8_t usage = frame.usage.load(std::memory_order_relaxed);
  const bool is_spared =
      state == FrameState::unswizzled && usage > 0 && replacement_ == Replacement::clock_sweep;
  if (is_spared) {
    frame.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
  } else if (state == FrameState::free || try_empty_latched(frame)) {
    PageState::leave_queue(frame);
    hold.release();
    if (state == FrameState::unswizzled)
      counters_.evictions.fetch_add(1, std::memory_order_relaxed);
    give_frame(frame);
    return true;
  }
  const bool is_dirty = !is_spared && !frame.is_clean();
  if (planted(PoolFault::queued_without_the_latch)) {
    PageState::leave_queue(frame);
    hold.release_unchanged();
    enqueue(frame);
  } else {
    cooling_.push(arena_, frame);
    hold.release_unchanged();
  }
  if (is_dirty) wake_cleaner();
  return false;
}

}  // namespace swizzle
