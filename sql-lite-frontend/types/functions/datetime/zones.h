#pragma once

#include <memory>
#include <string_view>

#include "sql-lite-frontend/types/datetime/time_zone.h"

namespace swizzle::sql {

/// Time at which a zone's offset is needed: an abbreviation may have had another offset then.
struct ZoneTime {
  std::int64_t timestamp = 0;
  enum class Clock : std::uint8_t { utc, local } clock = Clock::utc;
};
/// Finds a zone for AT TIME ZONE: an abbreviation, a name, or a POSIX rule. Throws 22023.
std::shared_ptr<const TimeZone> find_zone(std::string_view name, ZoneTime at);

}  // namespace swizzle::sql
