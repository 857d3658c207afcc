#pragma once

#include <cstdint>
#include <string_view>

namespace swizzle::sql {

/// Units of extract() and date_trunc(). The first ones are also units of intervals.
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

/// Finds an interval unit by any of PostgreSQL's spellings in lower case ("mons", "yr"); returns
/// unknown if there is none.
DateTimeUnit find_interval_unit(std::string_view word) noexcept;

}  // namespace swizzle::sql
