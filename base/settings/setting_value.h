#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace swizzle {

/// Units of settings. A value may be written in any unit of the same kind.
enum class SettingUnit : std::uint8_t {
  none,
  bytes,
  kilobytes,
  blocks,  ///< 8 kB each
  megabytes,
  microseconds,
  milliseconds,
  seconds,
  minutes,
};

/// Returns pg_settings.unit: "kB", "8kB", "ms"; empty for none.
std::string_view name_of(SettingUnit unit) noexcept;

struct IntegerBounds {
  std::int64_t least = INT32_MIN;
  std::int64_t most = INT32_MAX;
};
struct RealBounds {
  double least;
  double most;
};

/// Enumerations are strings, in the spelling of their list.
using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

// Parse a setting's text with PostgreSQL's rules, messages and hints (22023). `name` is for the
// message.

/// Accepts on, off, true, false, yes, no, their unambiguous prefixes, 1 and 0; in any case.
Result<bool> parse_boolean_setting(std::string_view name, std::string_view text);
/// Accepts a decimal, hexadecimal (0x), octal or fractional number, optionally with a unit; rounds
/// to the setting's unit.
Result<std::int64_t> parse_integer_setting(std::string_view name, std::string_view text,
                                           SettingUnit unit, IntegerBounds bounds);
Result<double> parse_real_setting(std::string_view name, std::string_view text, SettingUnit unit,
                                  RealBounds bounds);
/// Accepts a value of the list, in any case.
Result<std::string> parse_enumeration_setting(std::string_view name, std::string_view text,
                                              std::span<const std::string> values);

/// Returns the value as SHOW does: on or off; numbers in the largest unit that leaves them whole
/// ("64MB", "5s").
std::string show_setting(const SettingValue& value, SettingUnit unit);
/// Returns the value as pg_settings.setting does: numbers in the setting's own unit, without it.
std::string bare_setting(const SettingValue& value);

}  // namespace swizzle
