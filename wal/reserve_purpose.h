#pragma once

#include <cstdint>

namespace swizzle::wal {

/// The purpose of a reservation. When the disk is nearly full, growth is refused (53100) while
/// completion uses the room that was kept for it; when that is used up too, it waits.
enum class ReservePurpose : std::uint8_t {
  growth,      ///< new changes
  completion,  ///< commit, rollback, checkpoint: what lets the system get out of trouble
};

}  // namespace swizzle::wal
