#pragma once

#include <cstdint>

namespace swizzle {

/// Races that the pools once had, which the schedules plant, one at a time, to see that they are
/// found. In other builds planted() is constant.
enum class PoolFault : std::uint8_t {
  none,
  sweep_trusts_the_parent,       // it is not checked again that it has no swizzled children
  number_read_late,              // a frame leaves the table by the number that it has by then
  queued_without_the_latch,      // the hand releases a frame before it queues it again
  queued_after_it_can_be_found,  // a page that was read may be evicted before it is queued
  dropped_without_a_look,        // a page's foster child is looked up before the latch
  lacking_page_enters_clean,     // a page that was redone when it was read is not marked dirty
  brought_in_unasked,            // redo brings in a page without checking that it lacks changes
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
