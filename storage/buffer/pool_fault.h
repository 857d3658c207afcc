#pragma once

#include <cstdint>

namespace swizzle {

/// Races that the pools once had, which the schedules put back, one at a time, to see that they are
/// found. Elsewhere planted() is constant.
enum class PoolFault : std::uint8_t {
  none,
  sweep_trusts_the_parent,       // it is not asked again whether it has children of its own
  number_read_late,              // a frame leaves the table by the number that it has by then
  queued_without_the_latch,      // the hand releases a frame before it queues it again
  queued_after_it_can_be_found,  // a page that was read may be gone before it is queued
  dropped_without_a_look,        // a page's foster child is looked up before the page is latched
  lacking_page_enters_clean,     // a page that was redone when it was read is not marked dirty
  brought_in_unasked,  // redo brings in a page without a look whether it still lacks changes
};
inline constexpr int kPoolFaults = 8;

#ifdef SWIZZLE_PAGE_PAUSES
inline PoolFault planted_pool_fault = PoolFault::none;
inline bool planted(PoolFault fault) noexcept {
  return planted_pool_fault == fault;
}
#else
constexpr bool planted(PoolFault /*fault*/) noexcept {
  return false;
}
#endif

}  // namespace swizzle
