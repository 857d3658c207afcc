#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// What extract() and date_trunc() can be asked for.
enum class DateTimeUnit : std::uint8_t {
  microsecond,
  millisecond,
  second,
  minute,
  hour,
  day,
  week,
  month,
  quarter,
  year,
  decade,
  century,
  millennium,
  isoyear,
  dow,
  isodow,
  doy,
  julian,
  epoch,
  timezone,
  timezone_hour,
  timezone_minute,
  unknown,
};

/// Letters of either case; unknown if it is none.
DateTimeUnit find_datetime_unit(std::string_view spelled);

/// Says that the type has no such unit, or that nobody knows it.
[[noreturn]] void refuse_datetime_unit(std::string_view name, DateTimeUnit unit, TypeId type);

}  // namespace swizzle::sql
