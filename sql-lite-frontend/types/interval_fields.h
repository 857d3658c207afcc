#pragma once

#include <cstdint>

/// What INTERVAL's type modifier says: which fields, how many decimals of a second.
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

}  // namespace swizzle::sql
