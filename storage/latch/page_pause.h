#pragma once

#include <atomic>
#include <cstdint>

namespace swizzle {

/// The steps of latches, pools and trees between which another thread may run. The programs in
/// `storage/schedules` are compiled with them, and take the processor away there; in other builds
/// they are empty.
enum class PagePause : std::uint8_t {
  before_latch,     // a latch is about to be tried
  after_unlatch,    // a latch was released
  before_version,   // an optimistic read is about to begin
  before_validate,  // values that were read are about to be validated
  before_mutex,     // a spin mutex is about to be tried
  after_mutex,      // one was released
  before_read,      // a page is about to be read into a frame
  before_state,     // a frame is about to change its state
  after_state,      // it has changed it
  before_queue,     // a frame is about to enter a queue
  inside_chain,     // a page is looked for in the page table, without its mutex
  between_looks,    // a page was read and its latch released; the result is used later
};
inline constexpr int kPagePauses = 12;

#ifdef SWIZZLE_PAGE_PAUSES
using PagePauseHook = void (*)(PagePause at);
/// Null lets everything run.
inline std::atomic<PagePauseHook> page_pause_hook{nullptr};
inline void page_pause(PagePause at) noexcept {
  if (const PagePauseHook hook = page_pause_hook.load(std::memory_order_acquire)) hook(at);
}
#else
constexpr void page_pause(PagePause /*at*/) noexcept {}
#endif

}  // namespace swizzle
