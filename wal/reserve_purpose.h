#pragma once

#include <cstdint>

namespace swizzle::wal {

/// The purpose of a reservation. When the disk is nearly full, growth is refused (53100) while
/// completion uses the room that was kept for it; when that is used up too, it waits.
enum class ReservePurpose : std::uint8_t {
  growth,      ///< new changes
  completion,  ///< commit, rollback, checkpoint: ends work and so frees room
};

/// The room that reserved bytes are of.
enum class Credits : std::uint8_t {
  of_growth,           ///< for every purpose
  kept_for_completion  ///< reserved: growth must not get it
};

}  // namespace swizzle::wal
