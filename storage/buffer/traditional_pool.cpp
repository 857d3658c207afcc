#include "storage/buffer/traditional_pool.h"

namespace swizzle {

Result<> TraditionalPool::resolve(Referrer& /*parent*/, ReadGuard& guard, PageRef* /*at*/,
                                  PageRef ref) {
  const PageId page = ref.page();
  const PageTable::Claim claim = table_.try_claim_read(page);
  // Only after the claim: from here on the page cannot leave its tree without being read first.
  const bool still_refers = guard.valid();
  guard.release();
  if (claim == PageTable::Claim::being_read) return table_.wait_for_read(page);
  if (claim == PageTable::Claim::resident) return {};
  if (still_refers) return read_claimed(page);
  table_.finish_read(page, nullptr, nullptr);
  return {};
}

PageRef TraditionalPool::adopt_new(Referrer& /*parent*/, Frame& child) noexcept {
  child.state.store(FrameState::unswizzled, std::memory_order_relaxed);
  table_.insert(child);
  return PageRef{child.page_id.load(std::memory_order_relaxed)};
}

Result<> TraditionalPool::make_room() {
  constexpr std::uint32_t kBatch = 16;
  constexpr Duration kPause = std::chrono::microseconds{100};
  constexpr Duration kPatience = std::chrono::seconds{30};
  Runtime& runtime = Runtime::current();
  const TimePoint give_up = runtime.now() + kPatience;
  while (true) {
    std::uint32_t freed = 0;
    bool met_dirty = false;
    const std::uint32_t steps = arena_.used() * (Frame::kMaxUsage + 1U);
    for (std::uint32_t step = 0; step < steps && freed < kBatch; ++step) {
      Frame& frame = arena_.at(hand_.fetch_add(1, std::memory_order_relaxed) % arena_.used());
      if (frame.state.load(std::memory_order_relaxed) != FrameState::unswizzled) continue;
      const std::uint8_t usage = frame.usage.load(std::memory_order_relaxed);
      if (usage > 0)
        frame.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
      else if (try_evict(frame))
        ++freed;
      else if (!frame.is_clean())
        met_dirty = true;
    }
    // Where most pages are dirty, the few that are not would otherwise go round and round.
    if (met_dirty) wake_cleaner();
    if (freed > 0 || free_frames() > 0) return {};
    wake_cleaner();
    if (runtime.now() >= give_up)
      return fail(sqlstate::out_of_memory, "the buffer pool has no page that could be replaced");
    runtime.sleep_until(runtime.now() + kPause);
  }
}

}  // namespace swizzle
