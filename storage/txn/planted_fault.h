#pragma once

#include <cstdint>

namespace swizzle {

/// Known defects that tests plant, one at a time, to see that they are found. Compiled in for
/// sanitizer builds only; elsewhere planted() is constant.
enum class PlantedFault : std::uint8_t {
  none,
  gap_lock_not_taken,           // a serializable scan locks its keys only
  lock_released_early,          // a serializable scan's locks go when the leaf is read
  insert_does_not_inherit,      // a key in one's own locked gap does not get the gap's lock (P7)
  split_ignores_gaps,           // a fence goes into a locked gap (P7)
  shortcut_takes_the_snapshot,  // a leaf is taken as all-visible below the snapshot, not below the
                                // all-visible LSN (P35)
  chain_one_too_few,            // the walk to older versions stops one before the right one (P37)
  version_freed_at_commit,      // undo records leave the index when their writer commits (P37)
  ghost_removed_early,          // a ghost goes although a snapshot may need it (P38)
  removal_does_not_compare,     // a record is removed although it differs from the seen one
  mark_not_asked_for,           // a row is locked without a check for the marks of others
  mark_ignores_locks,           // a row is marked without a check for the locks of others
  settled_beside_older_snapshot,  // versions are hidden that an older snapshot needs
};
inline constexpr int kPlantedFaults = 13;

#ifdef SWIZZLE_PLANTED_FAULTS
inline PlantedFault planted_fault = PlantedFault::none;
inline bool planted(PlantedFault fault) noexcept {
  return planted_fault == fault;
}
#else
constexpr bool planted(PlantedFault /*fault*/) noexcept {
  return false;
}
#endif

}  // namespace swizzle
