#pragma once

#include <memory>
#include <string_view>

#include "sql-lite-frontend/types/datetime/time_zone.h"

namespace swizzle::sql {

/// A zone as AT TIME ZONE names it: an abbreviation, a name, or a POSIX rule. Throws 22023.
std::shared_ptr<const TimeZone> find_zone(std::string_view name);

}  // namespace swizzle::sql
