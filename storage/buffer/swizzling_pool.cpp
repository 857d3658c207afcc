#include "storage/buffer/swizzling_pool.h"

#include <algorithm>

namespace swizzle {

SwizzlingPool::SwizzlingPool(FrameArena arena, PageStore& store, PageLayout layout,
                             std::uint32_t cooling_percent)
    : PagedPool(std::move(arena), store, layout),
      cooling_target_(std::max(
          2U, static_cast<std::uint32_t>(std::uint64_t{arena_.count()} * cooling_percent / 100))) {}

void SwizzlingPool::register_root(RootHolder& holder) {
  const std::lock_guard hold(roots_mutex_);
  roots_.push_back(&holder);
}

void SwizzlingPool::unregister_root(RootHolder& holder) noexcept {
  const std::lock_guard hold(roots_mutex_);
  std::erase(roots_, &holder);
}

Result<> SwizzlingPool::resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref) {
  const PageId page = ref.page();
  switch (table_.try_claim_read(page)) {
    case PageTable::Claim::resident:
      swizzle(parent, guard, at, page);
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
  return read_claimed(page);
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
  if (!table_.remove(*frame)) {
    // The evictor was faster. Readers may have seen the address: the new version tells them.
    store_ref(at, PageRef{page});
    return;
  }
  frame->parent.store(&parent, std::memory_order_relaxed);
  frame->state.store(FrameState::swizzled, std::memory_order_relaxed);
  counters_.swizzled.fetch_add(1, std::memory_order_relaxed);
  // The old form and the new one lead to the same page, so readers need not start again.
  hold.release_unchanged();
}

PageRef SwizzlingPool::adopt_new(Referrer& parent, Frame& child) noexcept {
  if (may_hold_addresses(parent)) {
    child.parent.store(&parent, std::memory_order_relaxed);
    child.state.store(FrameState::swizzled, std::memory_order_relaxed);
    return PageRef{&child};
  }
  child.state.store(FrameState::unswizzled, std::memory_order_relaxed);
  table_.insert(child);
  enqueue(child);
  return PageRef{child.page_id.load(std::memory_order_relaxed)};
}

void SwizzlingPool::moved(PageRef ref, Referrer& to) noexcept {
  if (ref.is_swizzled()) ref.frame()->parent.store(&to, std::memory_order_relaxed);
}

void SwizzlingPool::enqueue(Frame& frame) noexcept {
  if (!frame.is_queued.exchange(true, std::memory_order_acq_rel)) cooling_.push(frame);
}

Result<> SwizzlingPool::make_room() {
  constexpr std::uint32_t kBatch = 16;
  constexpr Duration kPause = std::chrono::microseconds{100};
  constexpr Duration kPatience = std::chrono::seconds{30};
  Runtime& runtime = Runtime::current();
  const TimePoint give_up = runtime.now() + kPatience;
  for (std::uint32_t round = 0;; ++round) {
    if (cooling_.size() < cooling_target_) sweep(cooling_target_ - cooling_.size());
    if (run_clock_hand(kBatch) > 0 || free_frames() > 0) return {};
    if (round < kFruitlessRounds) {
      runtime.yield();
      continue;
    }
    // All that could go is dirty or in use: the cleaner, or those who use it, need time.
    wake_cleaner();
    if (runtime.now() >= give_up)
      return fail(sqlstate::out_of_memory, "the buffer pool has no page that could be replaced");
    runtime.sleep_until(runtime.now() + kPause);
  }
}

std::uint32_t SwizzlingPool::run_clock_hand(std::uint32_t wanted) noexcept {
  std::uint32_t freed = 0;
  for (std::uint32_t looked_at = cooling_.size(); looked_at > 0 && freed < wanted; --looked_at) {
    Frame* frame = cooling_.pop();
    if (frame == nullptr) break;
    // Under the latch, since whoever frees a page looks whether its frame is queued.
    if (!frame->latch.try_lock_exclusive()) {
      cooling_.push(*frame);
      continue;
    }
    frame->is_queued.store(false, std::memory_order_relaxed);
    const FrameState state = frame->state.load(std::memory_order_relaxed);
    frame->latch.unlock_exclusive_unchanged();
    if (state == FrameState::free) {
      give_frame(*frame);
      ++freed;
    }
    if (state != FrameState::unswizzled) continue;
    const std::uint8_t usage = frame->usage.load(std::memory_order_relaxed);
    if (usage > 0) {
      frame->usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
      enqueue(*frame);
    } else if (try_evict(*frame)) {
      ++freed;
    } else if (frame->state.load(std::memory_order_relaxed) == FrameState::unswizzled) {
      enqueue(*frame);
      if (!frame->is_clean()) wake_cleaner();
    }
  }
  return freed;
}

}  // namespace swizzle
