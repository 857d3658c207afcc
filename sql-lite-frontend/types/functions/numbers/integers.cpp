#include <limits>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

template <class T>
constexpr std::string_view name_of() {
  if constexpr (sizeof(T) == 2) return "smallint";
  if constexpr (sizeof(T) == 4) return "integer";
  return "bigint";
}

template <class T>
[[noreturn]] void out_of_range() {
  throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", name_of<T>());
}

[[noreturn]] void division_by_zero() {
  throw SqlError{sqlstate::division_by_zero, "division by zero"};
}

template <class T>
Value checked(bool overflow, i64 wide) {
  if (overflow || wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max())
    out_of_range<T>();
  return Value::from_int(wide);
}

// T is the result's width; the operands may be narrower.
template <class T>
Value add(FunctionContext&, Arguments a) {
  i64 out = 0;
  const bool overflow = __builtin_add_overflow(a[0].as_int8(), a[1].as_int8(), &out);
  return checked<T>(overflow, out);
}
template <class T>
Value subtract(FunctionContext&, Arguments a) {
  i64 out = 0;
  const bool overflow = __builtin_sub_overflow(a[0].as_int8(), a[1].as_int8(), &out);
  return checked<T>(overflow, out);
}
template <class T>
Value multiply(FunctionContext&, Arguments a) {
  i64 out = 0;
  const bool overflow = __builtin_mul_overflow(a[0].as_int8(), a[1].as_int8(), &out);
  return checked<T>(overflow, out);
}
template <class T>
Value divide(FunctionContext&, Arguments a) {
  const i64 divisor = a[1].as_int8();
  if (divisor == 0) division_by_zero();
  if (divisor == -1) {
    i64 out = 0;
    const bool overflow = __builtin_sub_overflow(i64{0}, a[0].as_int8(), &out);
    return checked<T>(overflow, out);
  }
  return Value::from_int(a[0].as_int8() / divisor);
}
template <class T>
Value modulo(FunctionContext&, Arguments a) {
  const i64 divisor = a[1].as_int8();
  if (divisor == 0) division_by_zero();
  // The hardware faults on INT64_MIN % -1.
  return Value::from_int(divisor == -1 ? 0 : a[0].as_int8() % divisor);
}
template <class T>
Value negate(FunctionContext&, Arguments a) {
  i64 out = 0;
  const bool overflow = __builtin_sub_overflow(i64{0}, a[0].as_int8(), &out);
  return checked<T>(overflow, out);
}
template <class T>
Value absolute(FunctionContext& context, Arguments a) {
  return a[0].as_int8() < 0 ? negate<T>(context, a) : a[0];
}
Value same(FunctionContext&, Arguments a) {
  return a[0];
}

template <class T>
T narrow(const Value& v) {
  return static_cast<T>(v.as_int8());
}
template <class T>
Value bit_and(FunctionContext&, Arguments a) {
  return Value::from_int(a[0].as_int8() & a[1].as_int8());
}
template <class T>
Value bit_or(FunctionContext&, Arguments a) {
  return Value::from_int(a[0].as_int8() | a[1].as_int8());
}
template <class T>
Value bit_xor(FunctionContext&, Arguments a) {
  return Value::from_int(a[0].as_int8() ^ a[1].as_int8());
}
template <class T>
Value bit_not(FunctionContext&, Arguments a) {
  return Value::from_int(~a[0].as_int8());
}
// Shift counts are taken modulo the width.
template <class T>
Value shift_left(FunctionContext&, Arguments a) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned kMask = sizeof(T) == 8 ? 63U : 31U;
  const unsigned count = static_cast<unsigned>(a[1].as_int4()) & kMask;
  if (count >= sizeof(T) * 8) return Value::from_int(0);
  const auto bits = static_cast<std::uint64_t>(static_cast<Unsigned>(narrow<T>(a[0]))) << count;
  return Value::from_int(static_cast<T>(bits));
}
template <class T>
Value shift_right(FunctionContext&, Arguments a) {
  constexpr unsigned kMask = sizeof(T) == 8 ? 63U : 31U;
  return Value::from_int(a[0].as_int8() >> (static_cast<unsigned>(a[1].as_int4()) & kMask));
}

template <class T>
i64 greatest_common_divisor(i64 a, i64 b) {
  while (b != 0) {
    const i64 rest = b == -1 ? 0 : a % b;
    a = b;
    b = rest;
  }
  if (a == std::numeric_limits<i64>::min()) out_of_range<T>();
  return a < 0 ? -a : a;
}
template <class T>
Value gcd(FunctionContext&, Arguments a) {
  return checked<T>(false, greatest_common_divisor<T>(a[0].as_int8(), a[1].as_int8()));
}
template <class T>
Value lcm(FunctionContext&, Arguments a) {
  if (a[0].as_int8() == 0 || a[1].as_int8() == 0) return Value::from_int(0);
  const i64 common = greatest_common_divisor<T>(a[0].as_int8(), a[1].as_int8());
  i64 out = 0;
  const bool overflow = __builtin_mul_overflow(a[0].as_int8() / common, a[1].as_int8(), &out) ||
                        out == std::numeric_limits<i64>::min();
  return checked<T>(overflow, out < 0 && !overflow ? -out : out);
}

Value factorial(FunctionContext& context, Arguments a) {
  return numeric_factorial(context.arena, a[0].as_int8());
}

enum class Base : std::uint8_t { binary, octal, hexadecimal };
/// Shows negative numbers in two's complement.
template <Base base, class T>
Value in_base(FunctionContext& context, Arguments a) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(a[0].as_int8());
  if constexpr (base == Base::binary) return make_text(context.arena, fmt::format("{:b}", bits));
  if constexpr (base == Base::octal) return make_text(context.arena, fmt::format("{:o}", bits));
  return make_text(context.arena, fmt::format("{:x}", bits));
}

/// Returns the bytes of a number, the most significant first.
template <class T>
Value to_bytes(FunctionContext& context, Arguments a) {
  std::byte* const out = context.arena.allocate(sizeof(T), 1);
  auto bits = static_cast<std::uint64_t>(a[0].as_int8());
  for (std::size_t i = sizeof(T); i-- > 0; bits >>= 8U) out[i] = static_cast<std::byte>(bits);
  return Value::from_bytes({out, sizeof(T)});
}
/// A shorter string gives the low-order bytes.
template <class T>
Value from_bytes(FunctionContext&, Arguments a) {
  const Bytes bytes = a[0].as_bytes();
  if (bytes.size() > sizeof(T)) out_of_range<T>();
  std::uint64_t bits = 0;
  for (const std::byte byte : bytes) bits = bits << 8U | std::to_integer<std::uint64_t>(byte);
  return Value::from_int(static_cast<T>(bits));
}

#define SWIZZLE_ARITHMETIC(types, T)                                                           \
  {"+(" types ")", &add<T>}, {"-(" types ")", &subtract<T>}, {"*(" types ")", &multiply<T>}, { \
    "/(" types ")", &divide<T>                                                                 \
  }
#define SWIZZLE_ONE_WIDTH(type, T)                                                                 \
  SWIZZLE_ARITHMETIC(type "," type, T), {"%(" type "," type ")", &modulo<T>},                      \
      {"mod(" type "," type ")", &modulo<T>}, {"-(" type ")", &negate<T>}, {"+(" type ")", &same}, \
      {"@(" type ")", &absolute<T>}, {"abs(" type ")", &absolute<T>},                              \
      {"&(" type "," type ")", &bit_and<T>}, {"|(" type "," type ")", &bit_or<T>},                 \
      {"#(" type "," type ")", &bit_xor<T>}, {"~(" type ")", &bit_not<T>},                         \
      {"<<(" type ",int4)", &shift_left<T>}, {                                                     \
    ">>(" type ",int4)", &shift_right<T>                                                           \
  }

constexpr ScalarEntry kIntegersEntries[] = {
    SWIZZLE_ONE_WIDTH("int2", i16),
    SWIZZLE_ONE_WIDTH("int4", i32),
    SWIZZLE_ONE_WIDTH("int8", i64),
    SWIZZLE_ARITHMETIC("int2,int4", i32),
    SWIZZLE_ARITHMETIC("int4,int2", i32),
    SWIZZLE_ARITHMETIC("int2,int8", i64),
    SWIZZLE_ARITHMETIC("int8,int2", i64),
    SWIZZLE_ARITHMETIC("int4,int8", i64),
    SWIZZLE_ARITHMETIC("int8,int4", i64),
    {"gcd(int4,int4)", &gcd<i32>},
    {"gcd(int8,int8)", &gcd<i64>},
    {"lcm(int4,int4)", &lcm<i32>},
    {"lcm(int8,int8)", &lcm<i64>},
    {"factorial(int8)", &factorial},
    {"to_hex(int4)", &in_base<Base::hexadecimal, i32>},
    {"to_hex(int8)", &in_base<Base::hexadecimal, i64>},
    {"to_oct(int4)", &in_base<Base::octal, i32>},
    {"to_oct(int8)", &in_base<Base::octal, i64>},
    {"to_bin(int4)", &in_base<Base::binary, i32>},
    {"to_bin(int8)", &in_base<Base::binary, i64>},
    {"bytea(int2)", &to_bytes<i16>},
    {"bytea(int4)", &to_bytes<i32>},
    {"bytea(int8)", &to_bytes<i64>},
    {"int2(bytea)", &from_bytes<i16>},
    {"int4(bytea)", &from_bytes<i32>},
    {"int8(bytea)", &from_bytes<i64>},
};

}  // namespace

std::span<const ScalarEntry> integer_functions() {
  return kIntegersEntries;
}

}  // namespace swizzle::sql
