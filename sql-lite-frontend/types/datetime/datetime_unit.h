#pragma once

#include <cstdint>
#include <string_view>

namespace swizzle::sql {

/// What extract() and date_trunc() can be asked for; the first of them are lengths, which intervals
/// are written in.
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

/// A length by any of PostgreSQL's spellings in lower case ("mons", "yr"); unknown if it is not
/// one.
DateTimeUnit find_interval_unit(std::string_view word) noexcept;

}  // namespace swizzle::sql
