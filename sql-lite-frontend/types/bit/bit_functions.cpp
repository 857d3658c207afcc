#include "sql-lite-frontend/types/bit/bit_functions.h"

#include <algorithm>
#include <bit>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/bit/bits.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

// Bitwise operators on two values of the same length, byte by byte.
template <class Operation>
Value combined(Arena& arena, const Value& a, const Value& b, std::string_view verb) {
  const BitView left{a};
  const BitView right{b};
  if (left.size() != right.size())
    throw_error(sqlstate::string_data_length_mismatch, "cannot {} bit strings of different sizes",
                verb);
  BitBuilder bits{arena, left.size()};
  std::ranges::transform(left.bytes(), right.bytes(), bits.bytes().begin(), Operation{});
  return bits.finish();
}
struct And {
  static constexpr std::string_view kVerb = "AND";
  std::byte operator()(std::byte a, std::byte b) const noexcept { return a & b; }
};
struct Or {
  static constexpr std::string_view kVerb = "OR";
  std::byte operator()(std::byte a, std::byte b) const noexcept { return a | b; }
};
struct Xor {
  static constexpr std::string_view kVerb = "XOR";
  std::byte operator()(std::byte a, std::byte b) const noexcept { return a ^ b; }
};
template <class Operation>
Value combine_bits(FunctionContext& context, Arguments a) {
  return combined<Operation>(context.arena, a[0], a[1], Operation::kVerb);
}

Value invert(FunctionContext& context, Arguments a) {
  const BitView view{a[0]};
  BitBuilder bits{context.arena, view.size()};
  std::ranges::transform(view.bytes(), bits.bytes().begin(), [](std::byte b) { return ~b; });
  return bits.finish();
}

/// Shifts left; negative counts shift right.
Value shifted(Arena& arena, const Value& value, std::int64_t left) {
  const BitView view{value};
  BitBuilder bits{arena, view.size()};
  const auto size = static_cast<std::int64_t>(view.size());
  if (left >= 0 && left < size) {
    const auto by = static_cast<std::size_t>(left);
    bits.copy(0, view, by, view.size() - by);
  } else if (left < 0 && -left < size) {
    const auto by = static_cast<std::size_t>(-left);
    bits.copy(by, view, 0, view.size() - by);
  }
  return bits.finish();
}
Value shift_left(FunctionContext& context, Arguments a) {
  return shifted(context.arena, a[0], a[1].as_int4());
}
Value shift_right(FunctionContext& context, Arguments a) {
  return shifted(context.arena, a[0], -std::int64_t{a[1].as_int4()});
}

Value concatenate(FunctionContext& context, Arguments a) {
  const BitView left{a[0]};
  const BitView right{a[1]};
  BitBuilder bits{context.arena, left.size() + right.size()};
  bits.copy(0, left, 0, left.size());
  bits.copy(left.size(), right, 0, right.size());
  return bits.finish();
}

/// Returns the bits from `from` on, counted from 1; positions outside do not exist.
Value part(Arena& arena, const BitView& view, std::int64_t from, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(view.size());
  const std::int64_t first = std::clamp<std::int64_t>(from, 1, size + 1);
  const std::int64_t behind = std::clamp<std::int64_t>(end, first, size + 1);
  const auto count = static_cast<std::size_t>(behind - first);
  BitBuilder bits{arena, count};
  bits.copy(0, view, static_cast<std::size_t>(first - 1), count);
  return bits.finish();
}
[[noreturn]] void refuse_length() {
  throw SqlError{sqlstate::substring_error, "negative substring length not allowed"};
}
Value substring(FunctionContext& context, Arguments a) {
  const std::int64_t from = a[1].as_int4();
  const std::int64_t length = a.size() > 2 ? a[2].as_int4() : INT32_MAX;
  if (length < 0) refuse_length();
  return part(context.arena, BitView{a[0]}, from, from + length);
}

Value overlay(FunctionContext& context, Arguments a) {
  const BitView into{a[0]};
  const BitView with{a[1]};
  const std::int64_t from = a[2].as_int4();
  const std::int64_t length =
      a.size() > 3 ? a[3].as_int4() : static_cast<std::int64_t>(with.size());
  if (from <= 0) refuse_length();
  const std::int64_t behind = from + length;
  if (behind != static_cast<std::int32_t>(behind))
    throw SqlError{sqlstate::numeric_value_out_of_range, "integer out of range"};
  const Value before = part(context.arena, into, 1, from);
  const Value rest = part(context.arena, into, behind, INT64_MAX);
  const Value begun[] = {before, a[1]};
  const Value whole[] = {concatenate(context, begun), rest};
  return concatenate(context, whole);
}

/// Returns the position, from 1, of the second argument's bits in the first; 0 if they are not
/// there.
Value position(FunctionContext&, Arguments a) {
  const BitView in{a[0]};
  const BitView wanted{a[1]};
  if (in.size() == 0 || wanted.size() > in.size()) return Value::from_int(0);
  for (std::size_t at = 0; at + wanted.size() <= in.size(); ++at) {
    std::size_t same = 0;
    while (same < wanted.size() && in.at(at + same) == wanted.at(same)) ++same;
    yield_point(same + 1);
    if (same == wanted.size()) return Value::from_int(static_cast<std::int64_t>(at + 1));
  }
  return Value::from_int(0);
}

Value length(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(BitView{a[0]}.size()));
}
Value octets(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(BitView{a[0]}.bytes().size()));
}
Value count_ones(FunctionContext&, Arguments a) {
  std::int64_t ones = 0;
  const BitView bits{a[0]};
  for (const std::byte byte : bits.bytes()) {
    yield_point(1);
    ones += std::popcount(std::to_integer<unsigned>(byte));
  }
  return Value::from_int(ones);
}

std::size_t checked_index(const BitView& view, const Value& index) {
  const std::int64_t bit = index.as_int4();
  if (bit < 0 || bit >= static_cast<std::int64_t>(view.size()))
    throw_error(sqlstate::array_subscript_error, "bit index {} out of valid range (0..{})", bit,
                static_cast<std::int64_t>(view.size()) - 1);
  return static_cast<std::size_t>(bit);
}
Value get_one(FunctionContext&, Arguments a) {
  const BitView view{a[0]};
  return Value::from_int(view.at(checked_index(view, a[1])) ? 1 : 0);
}
Value set_one(FunctionContext& context, Arguments a) {
  const BitView view{a[0]};
  const std::size_t at = checked_index(view, a[1]);
  const std::int32_t bit = a[2].as_int4();
  if (bit != 0 && bit != 1)
    throw SqlError{sqlstate::invalid_parameter_value, "new bit must be 0 or 1"};
  BitBuilder bits{context.arena, view.size()};
  bits.copy(0, view, 0, view.size());
  bits.set(at, bit == 1);
  return bits.finish();
}

/// The lowest bits of a number, its sign in front; bit(n) without n is bit(1).
Value from_integer(FunctionContext& context, Arguments a) {
  constexpr std::size_t kNumberBits = 64;
  const std::int64_t number = a[0].as_int8();
  const std::int32_t typmod = a[1].as_int4();
  const auto size = static_cast<std::size_t>(typmod <= 0 ? 1 : typmod);
  BitBuilder bits{context.arena, size};
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t place = std::min(size - 1 - i, kNumberBits - 1);
    bits.set(i, (number >> place & 1) != 0);
  }
  return bits.finish();
}

template <class Number>
Value to_integer(FunctionContext&, Arguments a) {
  const BitView view{a[0]};
  if (view.size() > sizeof(Number) * 8)
    throw_error(sqlstate::numeric_value_out_of_range, "{} out of range",
                sizeof(Number) == 4 ? "integer" : "bigint");
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < view.size(); ++i) number = number << 1U | (view.at(i) ? 1U : 0U);
  return Value::from_int(static_cast<Number>(number));
}

/// Result over all values so far; its bytes are changed in place.
template <class Operation>
struct Collected {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< including the last one, with the number of padding bits

  void take(Arena& arena, const Value& value) {
    const Bytes given = value.as_bytes();
    if (data == nullptr) {
      bytes = given.size();
      data = arena.allocate(bytes, 1);
      std::ranges::copy(given, data);
      return;
    }
    if (given.size() != bytes || given.back() != data[bytes - 1])
      throw_error(sqlstate::string_data_length_mismatch, "cannot {} bit strings of different sizes",
                  Operation::kVerb);
    for (std::size_t i = 0; i + 1 < bytes; ++i) data[i] = Operation{}(data[i], given[i]);
  }
  [[nodiscard]] Value value() const noexcept { return Value::from_bytes({data, bytes}); }
  void step(FunctionContext&, Arena& arena, Arguments a) { take(arena, a[0]); }
  [[nodiscard]] Value final(FunctionContext& context) const {
    return data == nullptr ? Value::null() : value().copy_to(context.arena);
  }
  void combine(Arena& arena, const Collected& other) {
    if (other.data != nullptr) take(arena, other.value());
  }
};

constexpr ScalarEntry kBitScalars[] = {
    SWIZZLE_COMPARISONS_OF("bit", compare_bits),
    {"bitcmp(bit,bit)", &order_of_two<&compare_bits>},
    {"&(bit,bit)", &combine_bits<And>},
    {"|(bit,bit)", &combine_bits<Or>},
    {"#(bit,bit)", &combine_bits<Xor>},
    {"~(bit)", &invert},
    {"<<(bit,int4)", &shift_left},
    {">>(bit,int4)", &shift_right},
    {"substring(bit,int4,int4)", &substring},
    {"substring(bit,int4)", &substring},
    {"overlay(bit,bit,int4,int4)", &overlay},
    {"overlay(bit,bit,int4)", &overlay},
    {"position(bit,bit)", &position},
    {"length(bit)", &length},
    {"bit_length(bit)", &length},
    {"octet_length(bit)", &octets},
    {"bit_count(bit)", &count_ones},
    {"get_bit(bit,int4)", &get_one},
    {"set_bit(bit,int4,int4)", &set_one},
    {"bit(int4,int4)", &from_integer},
    {"bit(int8,int4)", &from_integer},
    {"int4(bit)", &to_integer<std::int32_t>},
    {"int8(bit)", &to_integer<std::int64_t>},
};
constexpr AggregateEntry kBitAggregates[] = {
    {"bit_and(bit)", aggregate_of<Collected<And>>()},
    {"bit_or(bit)", aggregate_of<Collected<Or>>()},
    {"bit_xor(bit)", aggregate_of<Collected<Xor>>()},
};
constexpr ScalarEntry kVarbitScalars[] = {
    SWIZZLE_COMPARISONS_OF("varbit", compare_bits),
    {"varbitcmp(varbit,varbit)", &order_of_two<&compare_bits>},
    {"||(varbit,varbit)", &concatenate},
};

}  // namespace

constinit const FunctionsOfType kBitFunctions{.scalars = kBitScalars, .aggregates = kBitAggregates};
constinit const FunctionsOfType kVarbitFunctions{.scalars = kVarbitScalars};

}  // namespace swizzle::sql
