#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace swizzle {

/// The units in which settings are kept. Values are written with any unit of the same kind.
enum class SettingUnit : std::uint8_t {
  none,
  bytes,
  kilobytes,
  blocks,  ///< of 8 kB
  megabytes,
  microseconds,
  milliseconds,
  seconds,
  minutes,
};

/// As pg_settings.unit shows it: "kB", "8kB", "ms"; empty for none.
std::string_view name_of(SettingUnit unit) noexcept;

struct IntegerBounds {
  std::int64_t least = INT32_MIN;
  std::int64_t most = INT32_MAX;
};
struct RealBounds {
  double least;
  double most;
};

/// Enumerations and strings are strings. An enumeration's value is in the spelling of its list.
using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

// Text as users write it, into values, with PostgreSQL's rules, messages and hints (22023). `name`
// is for the message.

/// on, off, true, false, yes, no, their unambiguous beginnings, 1 and 0; in any case.
Result<bool> parse_boolean_setting(std::string_view name, std::string_view text);
/// Decimal, 0x or octal, or with a fraction, then maybe a unit; rounded to the setting's unit.
Result<std::int64_t> parse_integer_setting(std::string_view name, std::string_view text,
                                           SettingUnit unit, IntegerBounds bounds);
Result<double> parse_real_setting(std::string_view name, std::string_view text, SettingUnit unit,
                                  RealBounds bounds);
/// In any case.
Result<std::string> parse_enumeration_setting(std::string_view name, std::string_view text,
                                              std::span<const std::string> values);

/// As SHOW does: on or off, and numbers in the largest unit that leaves them whole ("64MB", "5s").
std::string show_setting(const SettingValue& value, SettingUnit unit);
/// As pg_settings.setting does: numbers bare, in the setting's own unit.
std::string bare_setting(const SettingValue& value);

}  // namespace swizzle
