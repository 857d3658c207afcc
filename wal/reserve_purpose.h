#pragma once

#include <cstdint>

namespace swizzle::wal {

/// The purpose of a reservation. When the disk is nearly full, growth is refused (53100) while
/// completion uses the room that was kept for it; when that is used up too, it waits.
enum class ReservePurpose : std::uint8_t {
  growth,      ///< new changes
  completion,  ///< commit, rollback, checkpoint: what lets the system get out of trouble
};

/// Which room reserved bytes are of.
enum class Credits : std::uint8_t {
  of_growth,           ///< anybody's
  kept_for_completion  ///< of what growth leaves alone, and must not come to have
};

}  // namespace swizzle::wal
