#include "sql-lite-frontend/types/functions/numbers/random_numbers.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

/// random() and similar functions: numbers of the session's own sequence, which setseed() restarts.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// xoroshiro128+, seeded from the system at first use.
std::uint64_t next_random(SessionContext& session) {
  auto& s = session.random_state;
  if (s[0] == 0 && s[1] == 0) session.random_bytes(std::as_writable_bytes(std::span{s}));
  const auto rotate = [](std::uint64_t x, unsigned n) { return x << n | x >> (64 - n); };
  const std::uint64_t out = s[0] + s[1];
  const std::uint64_t mixed = s[0] ^ s[1];
  s[0] = rotate(s[0], 24) ^ mixed ^ mixed << 16U;
  s[1] = rotate(mixed, 37);
  return out;
}
/// Returns a number in [0, 1).
double next_fraction(SessionContext& session) {
  return static_cast<double>(next_random(session) >> 11U) * 0x1.0p-53;
}
Value random(FunctionContext& context, Arguments) {
  return Value::from_float8(next_fraction(context.session));
}
Value set_seed(FunctionContext& context, Arguments a) {
  const double seed = a[0].as_float8();
  if (!(seed >= -1 && seed <= 1))
    throw_error(sqlstate::invalid_parameter_value,
                "setseed parameter {} is out of allowed range [-1,1]", seed);
  context.session.random_state[0] = std::bit_cast<std::uint64_t>(seed) | 1;
  context.session.random_state[1] = 0x9e3779b97f4a7c15U;
  for (int i = 0; i < 8; ++i) next_random(context.session);
  return Value::from_int(0);
}

[[noreturn]] void refuse_bounds(std::string_view message) {
  throw SqlError{sqlstate::invalid_parameter_value, std::string{message}};
}
[[noreturn]] void refuse_order() {
  refuse_bounds("lower bound must be less than or equal to upper bound");
}

Value random_integer(FunctionContext& context, Arguments a) {
  const std::int64_t low = a[0].as_int8();
  const std::int64_t high = a[1].as_int8();
  if (low > high) refuse_order();
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t drawn = random_up_to(context.session, range);
  return Value::from_int(static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + drawn));
}

void require_finite(const Value& bound, std::string_view which) {
  if (numeric_is_nan(bound)) refuse_bounds(fmt::format("{} bound cannot be NaN", which));
  if (numeric_is_infinite(bound)) refuse_bounds(fmt::format("{} bound cannot be infinity", which));
}

/// Draws as many digits as the range has; draws again if the number is beyond the range.
Value random_numeric(FunctionContext& context, Arguments a) {
  require_finite(a[0], "lower");
  require_finite(a[1], "upper");
  if (numeric_compare(a[0], a[1]) > 0) refuse_order();
  const Value range = numeric_subtract(context.arena, a[1], a[0]);
  const std::string digits = to_text(context, TypeId::numeric, range);
  std::string drawn = digits;
  do {
    yield_point(8 * digits.size());
    bool is_leading = true;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (digits[i] == '.') continue;
      // Leading zeros of the range stay zeros; the digit after them is at most the range's.
      const std::uint64_t most = is_leading ? static_cast<std::uint64_t>(digits[i] - '0') : 9;
      is_leading = is_leading && digits[i] == '0';
      drawn[i] = static_cast<char>('0' + random_up_to(context.session, most));
    }
  } while (drawn > digits);
  return numeric_add(context.arena, a[0], numeric_from_text(context.arena, drawn));
}

/// Uses the Box-Muller transform.
Value random_normal(FunctionContext& context, Arguments a) {
  const double radius = std::sqrt(-2 * std::log(1 - next_fraction(context.session)));
  const double angle = 2 * std::numbers::pi * next_fraction(context.session);
  return Value::from_float8(a[0].as_float8() + a[1].as_float8() * radius * std::sin(angle));
}

constexpr ScalarEntry kRandomEntries[] = {
    {"random()", &random},
    {"setseed(float8)", &set_seed},
    {"random(int4,int4)", &random_integer},
    {"random(int8,int8)", &random_integer},
    {"random(numeric,numeric)", &random_numeric},
    {"random_normal(float8,float8)", &random_normal},
};

}  // namespace

std::uint64_t random_up_to(SessionContext& session, std::uint64_t most) {
  if (most == 0) return 0;
  while (true) {
    const std::uint64_t drawn =
        next_random(session) >> static_cast<unsigned>(std::countl_zero(most));
    if (drawn <= most) return drawn;
  }
}

std::span<const ScalarEntry> random_functions() {
  return kRandomEntries;
}

}  // namespace swizzle::sql
