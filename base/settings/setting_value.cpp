#include "base/settings/setting_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/ascii.h"
#include "base/invariant.h"

namespace swizzle {
namespace {

enum class Dimension : std::uint8_t { none, memory, time };

struct WrittenUnit {
  std::string_view name;
  Dimension dimension;
  double size;  // in bytes or microseconds
};

// The largest first, as SHOW tries them.
constexpr std::array kWrittenUnits{
    WrittenUnit{"TB", Dimension::memory, 1099511627776.0},
    WrittenUnit{"GB", Dimension::memory, 1073741824.0},
    WrittenUnit{"MB", Dimension::memory, 1048576.0},
    WrittenUnit{"kB", Dimension::memory, 1024.0},
    WrittenUnit{"B", Dimension::memory, 1.0},
    WrittenUnit{"d", Dimension::time, 86'400e6},
    WrittenUnit{"h", Dimension::time, 3'600e6},
    WrittenUnit{"min", Dimension::time, 60e6},
    WrittenUnit{"s", Dimension::time, 1e6},
    WrittenUnit{"ms", Dimension::time, 1e3},
    WrittenUnit{"us", Dimension::time, 1.0},
};

Dimension dimension_of(SettingUnit unit) noexcept {
  if (unit == SettingUnit::none) return Dimension::none;
  return unit <= SettingUnit::megabytes ? Dimension::memory : Dimension::time;
}

double size_of(SettingUnit unit) noexcept {
  switch (unit) {
    case SettingUnit::kilobytes:
      return 1024.0;
    case SettingUnit::blocks:
      return 8192.0;
    case SettingUnit::megabytes:
      return 1048576.0;
    case SettingUnit::milliseconds:
      return 1e3;
    case SettingUnit::seconds:
      return 1e6;
    case SettingUnit::minutes:
      return 60e6;
    case SettingUnit::none:
    case SettingUnit::bytes:
    case SettingUnit::microseconds:
      break;
  }
  return 1.0;
}

Error invalid(std::string_view name, std::string_view text) {
  return Error{sqlstate::invalid_parameter_value,
               fmt::format("invalid value for parameter \"{}\": \"{}\"", name, text)};
}

Error invalid_unit(std::string_view name, std::string_view text, SettingUnit unit) {
  switch (dimension_of(unit)) {
    case Dimension::memory:
      return invalid(name, text)
          .with_hint(
              "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
    case Dimension::time:
      return invalid(name, text)
          .with_hint(
              "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and "
              "\"d\".");
    case Dimension::none:
      break;
  }
  return invalid(name, text);
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

struct Number {
  double value;
  std::string_view rest;
};

// A whole number in C's notations, or a decimal fraction; nothing else that strtod takes.
std::optional<Number> leading_number(const std::string& text, std::string_view all) {
  const char* begin = text.c_str();
  char* end = nullptr;
  errno = 0;
  const auto whole = std::strtoll(begin, &end, 0);
  double value = static_cast<double>(whole);
  if (*end == '.' || *end == 'e' || *end == 'E' || errno == ERANGE || end == begin) {
    const auto digits = text.find_first_not_of("+-");
    const bool plain = digits != std::string::npos &&
                       (text[digits] == '.' || (text[digits] >= '0' && text[digits] <= '9'));
    if (!plain) return std::nullopt;
    errno = 0;
    value = std::strtod(begin, &end);
    if (errno == ERANGE) return std::nullopt;
  }
  if (end == begin) return std::nullopt;
  return Number{value, trimmed(all.substr(static_cast<std::size_t>(end - begin)))};
}

// The number in the setting's unit, not yet rounded.
Result<double> parse_number(std::string_view name, std::string_view text, SettingUnit unit) {
  const std::string_view body = trimmed(text);
  const auto number = leading_number(std::string{body}, body);
  if (!number || std::isnan(number->value)) return fail(invalid(name, text));
  if (number->rest.empty()) return number->value;
  for (const auto& written : kWrittenUnits) {
    if (written.name == number->rest && written.dimension == dimension_of(unit)) {
      return number->value * written.size / size_of(unit);
    }
  }
  return fail(invalid_unit(name, text, unit));
}

template <class T>
std::unexpected<Error> out_of_range(std::string_view name, T value, SettingUnit unit, T least,
                                    T most) {
  const std::string_view unit_name = name_of(unit);
  return fail(
      sqlstate::invalid_parameter_value,
      fmt::format(
          "{0}{1}{2} is outside the valid range for parameter \"{3}\" ({4}{1}{2} .. {5}{1}{2})",
          value, unit_name.empty() ? "" : " ", unit_name, name, least, most));
}

bool is_whole(double value) noexcept {
  return std::abs(std::rint(value) - value) <= 1e-8 * std::abs(value);
}

}  // namespace

std::string_view name_of(SettingUnit unit) noexcept {
  switch (unit) {
    case SettingUnit::none:
      return "";
    case SettingUnit::bytes:
      return "B";
    case SettingUnit::kilobytes:
      return "kB";
    case SettingUnit::blocks:
      return "8kB";
    case SettingUnit::megabytes:
      return "MB";
    case SettingUnit::microseconds:
      return "us";
    case SettingUnit::milliseconds:
      return "ms";
    case SettingUnit::seconds:
      return "s";
    case SettingUnit::minutes:
      return "min";
  }
  return "";
}

Result<bool> parse_boolean_setting(std::string_view name, std::string_view text) {
  struct Spelling {
    std::string_view word;
    std::size_t shortest;
    bool value;
  };
  constexpr std::array kSpellings{Spelling{"true", 1, true}, Spelling{"false", 1, false},
                                  Spelling{"yes", 1, true},  Spelling{"no", 1, false},
                                  Spelling{"on", 2, true},   Spelling{"off", 2, false},
                                  Spelling{"1", 1, true},    Spelling{"0", 1, false}};
  const std::string word = lower_case(trimmed(text));
  for (const auto& spelling : kSpellings) {
    if (word.size() >= spelling.shortest && spelling.word.starts_with(word)) return spelling.value;
  }
  return fail(sqlstate::invalid_parameter_value,
              fmt::format("parameter \"{}\" requires a Boolean value", name));
}

Result<std::int64_t> parse_integer_setting(std::string_view name, std::string_view text,
                                           SettingUnit unit, IntegerBounds bounds) {
  ASSIGN_OR_RETURN(const double number, parse_number(name, text, unit));
  const double rounded = std::rint(number);
  constexpr double kLimit = 9.2e18;
  if (std::abs(rounded) > kLimit) {
    return fail(invalid(name, text).with_hint("Value exceeds integer range."));
  }
  const auto value = static_cast<std::int64_t>(rounded);
  const bool wide = bounds.least < INT32_MIN || bounds.most > INT32_MAX;
  if (!wide && (value < INT32_MIN || value > INT32_MAX)) {
    return fail(invalid(name, text).with_hint("Value exceeds integer range."));
  }
  if (value < bounds.least || value > bounds.most) {
    return out_of_range(name, value, unit, bounds.least, bounds.most);
  }
  return value;
}

Result<double> parse_real_setting(std::string_view name, std::string_view text, SettingUnit unit,
                                  RealBounds bounds) {
  ASSIGN_OR_RETURN(const double value, parse_number(name, text, unit));
  if (value < bounds.least || value > bounds.most) {
    return out_of_range(name, value, unit, bounds.least, bounds.most);
  }
  return value;
}

Result<std::string> parse_enumeration_setting(std::string_view name, std::string_view text,
                                              std::span<const std::string> values) {
  struct Synonym {
    std::string_view word;
    std::string_view meant;
  };
  // Synonyms, accepted but not listed if the list has the value that they mean.
  constexpr std::array<Synonym, 7> kSynonyms{{{"true", "on"},
                                              {"yes", "on"},
                                              {"1", "on"},
                                              {"false", "off"},
                                              {"no", "off"},
                                              {"0", "off"},
                                              {"debug", "debug2"}}};
  const std::string wanted = lower_case(text);
  const auto* const synonym = std::ranges::find(kSynonyms, wanted, &Synonym::word);
  for (const auto& value : values) {
    const std::string known = lower_case(value);
    if (known == wanted || (synonym != kSynonyms.end() && known == synonym->meant)) return value;
  }
  return fail(
      invalid(name, text).with_hint(fmt::format("Available values: {}.", fmt::join(values, ", "))));
}

std::string show_setting(const SettingValue& value, SettingUnit unit) {
  const Dimension dimension = dimension_of(unit);
  const bool whole = std::holds_alternative<std::int64_t>(value);
  if (dimension == Dimension::none || (!whole && !std::holds_alternative<double>(value))) {
    return bare_setting(value);
  }
  const double number =
      whole ? static_cast<double>(std::get<std::int64_t>(value)) : std::get<double>(value);
  // Negative numbers and zero have a meaning of their own ("off", "default"), so no unit.
  if (number <= 0) return bare_setting(value);
  const double amount = number * size_of(unit);
  for (const auto& written : kWrittenUnits) {
    if (written.dimension != dimension) continue;
    const double in_unit = amount / written.size;
    if (in_unit >= 1 && is_whole(in_unit)) return fmt::format("{:.0f}{}", in_unit, written.name);
  }
  const std::string_view smallest = dimension == Dimension::memory ? "B" : "us";
  return fmt::format("{}{}", amount, smallest);
}

std::string bare_setting(const SettingValue& value) {
  struct Format {
    std::string operator()(bool flag) const { return flag ? "on" : "off"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{:g}", number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Format{}, value);
}

}  // namespace swizzle
