#pragma once

#include <memory>
#include <string_view>

#include "sql-lite-frontend/types/datetime/time_zone.h"

namespace swizzle::sql {

/// A time that a zone is asked for: an abbreviation may have meant another offset then.
struct ZoneTime {
  std::int64_t timestamp = 0;
  enum class Clock : std::uint8_t { utc, local } clock = Clock::utc;
};
/// A zone as AT TIME ZONE names it: an abbreviation, a name, or a POSIX rule. Throws 22023.
std::shared_ptr<const TimeZone> find_zone(std::string_view name, ZoneTime at);

}  // namespace swizzle::sql
