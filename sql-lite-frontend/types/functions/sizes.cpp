// Sizes in bytes with units: pg_size_pretty() and pg_size_bytes().
#include <algorithm>
#include <iterator>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

struct Unit {
  std::string_view name;
  std::int64_t limit;  ///< sizes below this are shown in this unit
  bool halved;         ///< one extra bit is kept for rounding
  int bits;
};
constexpr Unit kUnits[] = {{"bytes", 10 * 1024, false, 0},  {"kB", 20 * 1024 - 1, true, 10},
                           {"MB", 20 * 1024 - 1, true, 20}, {"GB", 20 * 1024 - 1, true, 30},
                           {"TB", 20 * 1024 - 1, true, 40}, {"PB", 20 * 1024 - 1, true, 50}};

/// Returns the divisor from one unit to the next.
std::int64_t step_to(const Unit& unit, const Unit& next) {
  const int bits = next.bits - unit.bits - (next.halved ? 1 : 0) + (unit.halved ? 1 : 0);
  return std::int64_t{1} << bits;
}

/// Shows at most five digits before the unit.
Value pretty(FunctionContext& context, Arguments a) {
  std::int64_t size = a[0].as_int8();
  for (std::size_t i = 0;; ++i) {
    const Unit& unit = kUnits[i];
    const bool last = i + 1 == std::size(kUnits);
    if (last || (size < unit.limit && size > -unit.limit)) {
      if (unit.halved) size = (size + (size < 0 ? -1 : 1)) / 2;
      return make_text(context.arena, fmt::format("{} {}", size, unit.name));
    }
    size /= step_to(unit, kUnits[i + 1]);
  }
}

/// pg_size_pretty(numeric): the size may exceed bigint, and has decimals if it is shown in bytes.
Value pretty_numeric(FunctionContext& context, Arguments a) {
  Arena& arena = context.arena;
  Value size = a[0];
  for (std::size_t i = 0;; ++i) {
    const Unit& unit = kUnits[i];
    const bool last = i + 1 == std::size(kUnits);
    const bool fits =
        numeric_compare(numeric_absolute(arena, size), numeric_from_int(unit.limit)) < 0;
    if (last || fits) {
      if (unit.halved) {
        const Value one = numeric_from_int(numeric_sign(size) < 0 ? -1 : 1);
        size = numeric_divide_truncated(arena, numeric_add(arena, size, one), numeric_from_int(2));
      }
      std::string text;
      append_numeric(text, size);
      return make_text(arena, fmt::format("{} {}", text, unit.name));
    }
    size = numeric_divide_truncated(arena, size, numeric_from_int(step_to(unit, kUnits[i + 1])));
  }
}

[[noreturn]] void invalid_size(std::string_view text) {
  throw_error(sqlstate::invalid_parameter_value, "invalid size: \"{}\"", text);
}

/// Returns the length of the number at the front of `text`.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > from;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  bool any = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    any = digits() || any;
  }
  if (!any) return 0;
  if (at < text.size() && to_lower(text[at]) == 'e') {
    // Without digits, the "e" is part of the unit's name.
    const std::size_t before = at++;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) at = before;
  }
  return at;
}

Value bytes(FunctionContext& context, Arguments a) {
  Arena& arena = context.arena;
  const std::string_view text = a[0].as_text();
  const std::string_view size = trim_space(text);
  const std::size_t length = number_length(size);
  if (length == 0) invalid_size(text);
  Value number = numeric_from_text(arena, size.substr(0, length));
  const std::string_view name = trim_space(size.substr(length));
  if (!name.empty()) {
    const auto* const unit = std::ranges::find_if(kUnits, [&](const Unit& known) {
      return equals_ignoring_case(name, known.name) ||
             (known.bits == 0 && equals_ignoring_case(name, "B"));
    });
    if (unit == std::end(kUnits)) {
      throw sql_error(sqlstate::invalid_parameter_value, "invalid size: \"{}\"", text)
          .with_detail(fmt::format("Invalid size unit: \"{}\".", name))
          .with_hint(
              "Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".");
    }
    number = numeric_multiply(arena, number, numeric_from_int(std::int64_t{1} << unit->bits));
  }
  return Value::from_int(numeric_to_int(number, INT64_MIN, INT64_MAX, "bigint"));
}

constexpr ScalarEntry kSizesEntries[] = {
    {"pg_size_pretty(int8)", &pretty},
    {"pg_size_pretty(numeric)", &pretty_numeric},
    {"pg_size_bytes(text)", &bytes},
};

}  // namespace

std::span<const ScalarEntry> byte_size_functions() {
  return kSizesEntries;
}

}  // namespace swizzle::sql
