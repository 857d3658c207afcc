#include "storage/buffer/compare/traditional_pool.h"

#include <algorithm>

#include "storage/buffer/page_state.h"

namespace swizzle {

Result<> TraditionalPool::resolve(Referrer& /*parent*/, ReadGuard& guard, PageRef* /*at*/,
                                  PageRef ref, Interest interest) {
  const PageId page = ref.page();
  const PageTable::Claim claim = table_.try_claim_read(page);
  // Only after the claim: from here on the page cannot leave its tree without being read first.
  const bool still_refers = guard.valid();
  guard.release();
  if (claim == PageTable::Claim::being_read) return table_.wait_for_read(page);
  if (claim == PageTable::Claim::resident) return {};
  if (still_refers) return read_claimed(page, interest);
  table_.finish_read(page, nullptr, nullptr);
  return {};
}

PageRef TraditionalPool::adopt_new(Referrer& /*parent*/, Frame& child) noexcept {
  PageState::become_resident(child);
  note_entry(child);
  table_.insert(child);
  return PageRef{child.page_id()};
}

std::uint32_t TraditionalPool::free_some(PageId incoming, std::uint32_t wanted) noexcept {
  if (policy_ != nullptr) return free_by_policy(incoming);
  std::uint32_t freed = 0;
  bool met_dirty = false;
  const std::uint32_t all = arena_.used() * (Frame::kMaxUsage + 1U);
  std::uint32_t step = 0;
  for (; step < std::min(all, kMostSteps) && freed < wanted; ++step) {
    Frame& frame = *arena_.nth_used(hand_.fetch_add(1, std::memory_order_relaxed));
    if (frame.state() != FrameState::unswizzled) continue;
    const std::uint8_t usage = frame.usage.load(std::memory_order_relaxed);
    if (usage > 0)
      frame.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
    else if (try_evict(frame))
      ++freed;
    else if (!frame.is_clean())
      met_dirty = true;
  }
  note_steps(step);
  // If most pages are dirty, the few clean ones would otherwise be read and evicted over and over.
  if (met_dirty) wake_cleaner();
  return freed;
}

}  // namespace swizzle
