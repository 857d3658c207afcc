#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/numeric/int128.h"

/// NUMERIC as run-time values. A number whose digits fit 64 bits with at most 18 decimals is stored
/// in the Value itself and computed without an arena; all others are a block of base-10000 digits.
/// The representation is canonical: a number that fits the small form never is a block.
namespace swizzle::sql {

inline constexpr std::uint32_t kMaxDecimalScale = 18;
/// Limits of PostgreSQL's format: digits before and after the point.
inline constexpr int kMaxNumericWeight = 32767;
inline constexpr int kMaxNumericScale = 16383;
inline constexpr int kMaxNumericPrecision = 1000;

/// True if the bytes are a well-formed block.
bool is_numeric_blob(Bytes bytes) noexcept;

bool numeric_is_nan(const Value& value) noexcept;
bool numeric_is_infinite(const Value& value) noexcept;
/// Returns -1, 0 or 1; 1 for NaN.
int numeric_sign(const Value& value) noexcept;
/// Returns the number of decimals shown.
int numeric_scale(const Value& value) noexcept;
Value numeric_nan(Arena& arena);
Value numeric_infinity(Arena& arena, int sign);

Value numeric_from_text(Arena& arena, std::string_view text);
void append_numeric(std::string& out, const Value& value);
Value numeric_receive(Arena& arena, Bytes bytes);
void numeric_send(const Value& value, std::string& out);

/// Rounds to the typmod's scale and checks its precision (22003).
Value numeric_apply_typmod(Arena& arena, const Value& value, std::int32_t typmod);
std::int32_t numeric_typmod(int precision, int scale);

Value numeric_from_int(std::int64_t value);
Value numeric_from_int128(Arena& arena, Int128 unscaled, int scale);
/// 15 (float8) or 6 (float4) significant digits, as PostgreSQL's casts.
Value numeric_from_double(Arena& arena, double value, int significant_digits);
/// Rounds; throws 22003 "… out of range", 0A000 for NaN and infinity. `type_name`: "integer" etc.
std::int64_t numeric_to_int(const Value& value, std::int64_t min, std::int64_t max,
                            std::string_view type_name);
double numeric_to_double(const Value& value);

/// NaN equals itself and is greater than all other values.
int numeric_compare(const Value& left, const Value& right);
std::uint64_t numeric_hash(const Value& value, std::uint64_t seed);

Value numeric_add(Arena& arena, const Value& left, const Value& right);
Value numeric_subtract(Arena& arena, const Value& left, const Value& right);
Value numeric_multiply(Arena& arena, const Value& left, const Value& right);
Value numeric_divide(Arena& arena, const Value& left, const Value& right);
Value numeric_divide_truncated(Arena& arena, const Value& left, const Value& right);  // div()
Value numeric_modulo(Arena& arena, const Value& left, const Value& right);
Value numeric_negate(Arena& arena, const Value& value);
Value numeric_absolute(Arena& arena, const Value& value);

Value numeric_round(Arena& arena, const Value& value, int scale);
Value numeric_truncate(Arena& arena, const Value& value, int scale);
Value numeric_ceiling(Arena& arena, const Value& value);
Value numeric_floor(Arena& arena, const Value& value);
Value numeric_trim_scale(Arena& arena, const Value& value);
int numeric_minimum_scale(const Value& value);

Value numeric_square_root(Arena& arena, const Value& value);
Value numeric_exponential(Arena& arena, const Value& value);
Value numeric_natural_logarithm(Arena& arena, const Value& value);
Value numeric_logarithm(Arena& arena, const Value& base, const Value& value);
Value numeric_power(Arena& arena, const Value& base, const Value& exponent);
Value numeric_gcd(Arena& arena, const Value& left, const Value& right);
Value numeric_lcm(Arena& arena, const Value& left, const Value& right);
Value numeric_factorial(Arena& arena, std::int64_t number);

/// Appends the key encoding, which is prefix-free without a terminator.
void append_numeric_key(std::string& key, const Value& value);
Value take_numeric_key(Bytes& key, Arena& arena);

/// Sum in a 128-bit integer as long as it fits, exact and without an arena. Trivially destructible.
class NumericSum {
 public:
  void add(Arena& arena, const Value& value);
  void subtract(Arena& arena, const Value& value);
  void add_integer(std::int64_t value) noexcept;
  [[nodiscard]] Value total(Arena& arena) const;

 private:
  void spill(Arena& arena, const Value& value);

  Int128 unscaled_ = 0;
  std::uint32_t scale_ = 0;
  bool has_rest_ = false;
  Value rest_;  ///< the rest of the sum; in the arena given
};

}  // namespace swizzle::sql
