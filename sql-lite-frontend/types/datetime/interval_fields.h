#pragma once

#include <cstdint>
#include <string_view>

/// INTERVAL's type modifier: the fields, and the number of decimals of seconds.
namespace swizzle::sql {

inline constexpr unsigned kMonthField = 1U << 1;
inline constexpr unsigned kYearField = 1U << 2;
inline constexpr unsigned kDayField = 1U << 3;
inline constexpr unsigned kHourField = 1U << 10;
inline constexpr unsigned kMinuteField = 1U << 11;
inline constexpr unsigned kSecondField = 1U << 12;
inline constexpr unsigned kAllIntervalFields = 0x7fff;
inline constexpr unsigned kFullIntervalPrecision = 0xffff;

constexpr unsigned interval_fields(std::int32_t typmod) noexcept {
  return typmod < 0 ? kAllIntervalFields : static_cast<unsigned>(typmod) >> 16 & 0x7fff;
}
constexpr unsigned interval_precision(std::int32_t typmod) noexcept {
  return typmod < 0 ? kFullIntervalPrecision : static_cast<unsigned>(typmod) & 0xffff;
}

struct IntervalFieldNames {
  unsigned fields;
  std::string_view text;
};
/// Field names as written after INTERVAL.
inline constexpr IntervalFieldNames kIntervalFieldNames[] = {
    {kYearField, "year"},
    {kMonthField, "month"},
    {kDayField, "day"},
    {kHourField, "hour"},
    {kMinuteField, "minute"},
    {kSecondField, "second"},
    {kYearField | kMonthField, "year to month"},
    {kDayField | kHourField, "day to hour"},
    {kDayField | kHourField | kMinuteField, "day to minute"},
    {kDayField | kHourField | kMinuteField | kSecondField, "day to second"},
    {kHourField | kMinuteField, "hour to minute"},
    {kHourField | kMinuteField | kSecondField, "hour to second"},
    {kMinuteField | kSecondField, "minute to second"},
};

}  // namespace swizzle::sql
