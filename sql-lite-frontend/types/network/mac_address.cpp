#include <array>
#include <cstdio>
#include <optional>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

/// macaddr and macaddr8: 48 and 64 bits as a number, the first byte highest.
namespace swizzle::sql {
namespace {

constexpr std::size_t kBytesOfShort = 6;
constexpr std::size_t kBytesOfLong = 8;
constexpr unsigned kByteBits = 8;

std::uint64_t number_of(const Value& value) {
  return static_cast<std::uint64_t>(value.as_int8());
}
Value address(std::uint64_t number) {
  return Value::from_int(static_cast<std::int64_t>(number));
}

constexpr std::uint64_t kLowByte = 0xff;
constexpr std::uint64_t kLowThree = 0xffffff;
constexpr std::uint64_t kLowFive = 0xffffffffff;
constexpr std::uint64_t kShortMask = (std::uint64_t{1} << 48U) - 1;
/// Bytes between the halves of a short address that is written as a long one.
constexpr std::uint64_t kBetween = 0xfffe;

/// 48 bits with ff:fe in the middle.
std::uint64_t widened(std::uint64_t number) {
  return number >> 24U << 40U | kBetween << 24U | (number & kLowThree);
}

/// Six numbers in one of the forms that are known, blanks where scanf lets them stand.
Value short_input(FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
  static constexpr std::array<const char*, 7> kForms{
      "%x:%x:%x:%x:%x:%x%1s",   "%x-%x-%x-%x-%x-%x%1s",    "%2x%2x%2x:%2x%2x%2x%1s",
      "%2x%2x%2x-%2x%2x%2x%1s", "%2x%2x.%2x%2x.%2x%2x%1s", "%2x%2x-%2x%2x-%2x%2x%1s",
      "%2x%2x%2x%2x%2x%2x%1s"};
  const std::string copy{text};
  for (const char* form : kForms) {
    std::array<unsigned, kBytesOfShort> bytes{};
    std::array<char, 2> rest{};
    const int read = ::sscanf(copy.c_str(), form, &bytes[0], &bytes[1], &bytes[2], &bytes[3],
                              &bytes[4], &bytes[5], rest.data());
    if (read != static_cast<int>(kBytesOfShort)) continue;
    std::uint64_t number = 0;
    for (const unsigned byte : bytes) {
      if (byte > kLowByte)
        throw_error(sqlstate::numeric_value_out_of_range,
                    "invalid octet value in \"macaddr\" value: \"{}\"", text);
      number = number << kByteBits | byte;
    }
    return address(number);
  }
  throw_invalid_syntax(type, text);
}

/// Pairs of digits, all with the same mark between them or none.
Value long_input(FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  std::uint64_t number = 0;
  std::size_t count = 0;
  char between = '\0';
  while (rest.size() >= 2) {
    const int high = hex_digit(rest[0]);
    const int low = hex_digit(rest[1]);
    if (high < 0 || low < 0 || count == kBytesOfLong) throw_invalid_syntax(type, text);
    number = number << kByteBits | static_cast<unsigned>(high * 16 + low);
    ++count;
    rest.remove_prefix(2);
    if (!rest.empty() && (rest[0] == ':' || rest[0] == '-' || rest[0] == '.')) {
      if (between != '\0' && between != rest[0]) throw_invalid_syntax(type, text);
      between = rest[0];
      rest.remove_prefix(1);
    }
    if ((count == kBytesOfShort || count == kBytesOfLong) && !rest.empty() && is_space(rest[0])) {
      if (!trim_space(rest).empty()) throw_invalid_syntax(type, text);
      break;
    }
  }
  if (count == kBytesOfShort) return address(widened(number));
  if (count != kBytesOfLong) throw_invalid_syntax(type, text);
  return address(number);
}

std::array<std::byte, kBytesOfLong> bytes_of(std::uint64_t number) {
  std::array<std::byte, kBytesOfLong> bytes{};
  store_big_endian(bytes.data(), number);
  return bytes;
}
template <std::size_t size>
Bytes last(const std::array<std::byte, kBytesOfLong>& bytes) {
  return Bytes{bytes}.last(size);
}

template <std::size_t size>
void output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const auto bytes = bytes_of(number_of(value));
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out.push_back(':');
    append_hex(out, last<size>(bytes).subspan(i, 1));
  }
}
template <std::size_t size>
void send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  out += as_text(last<size>(bytes_of(number_of(value))));
}

Value short_receive(FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kBytesOfShort; ++i)
    number = number << kByteBits | reader.take<std::uint8_t>();
  reader.finish();
  return address(number);
}
/// A message of six bytes is a short address.
Value long_receive(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  if (bytes.size() == kBytesOfShort)
    return address(widened(number_of(short_receive(context, type, typmod, bytes))));
  BinaryReader reader{bytes};
  const auto number = reader.take<std::uint64_t>();
  reader.finish();
  return address(number);
}

using Arguments = std::span<const Value>;

template <std::uint64_t mask>
Value invert(FunctionContext&, Arguments a) {
  return address(~number_of(a[0]) & mask);
}
Value both(FunctionContext&, Arguments a) {
  return address(number_of(a[0]) & number_of(a[1]));
}
Value either(FunctionContext&, Arguments a) {
  return address(number_of(a[0]) | number_of(a[1]));
}
/// Its maker alone.
template <std::uint64_t device>
Value truncate(FunctionContext&, Arguments a) {
  return address(number_of(a[0]) & ~device);
}
Value widen(FunctionContext&, Arguments a) {
  return address(widened(number_of(a[0])));
}
Value narrow(FunctionContext&, Arguments a) {
  const std::uint64_t number = number_of(a[0]);
  if ((number >> 24U & 0xffff) != kBetween)
    throw SqlError{sqlstate::numeric_value_out_of_range,
                   "macaddr8 data out of range to convert to macaddr"}
        .with_hint(
            "Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, "
            "for example xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to "
            "macaddr.");
  return address((number >> 40U << 24U | (number & kLowThree)) & kShortMask);
}
/// As IPv6 makes an interface's number.
Value set_seventh_bit(FunctionContext&, Arguments a) {
  return address(number_of(a[0]) | std::uint64_t{2} << 56U);
}

template <std::size_t size>
std::uint64_t hash_of_address(const Value& value, std::uint64_t seed) {
  const auto bytes = bytes_of(number_of(value));
  return hash_of_text(Value::from_bytes(last<size>(bytes)), seed);
}

constexpr ScalarEntry kShortScalars[] = {
    SWIZZLE_COMPARISONS_OF("macaddr", compare_unsigned),
    {"macaddr_cmp(macaddr,macaddr)", &order_of_two<&compare_unsigned>},
    SWIZZLE_HASHES("hashmacaddr", "hashmacaddrextended", "macaddr", hash_of_address<kBytesOfShort>),
    {"~(macaddr)", &invert<kShortMask>},
    {"&(macaddr,macaddr)", &both},
    {"|(macaddr,macaddr)", &either},
    {"trunc(macaddr)", &truncate<kLowThree>},
    {"macaddr8(macaddr)", &widen},
};
constexpr ScalarEntry kLongScalars[] = {
    SWIZZLE_COMPARISONS_OF("macaddr8", compare_unsigned),
    {"macaddr8_cmp(macaddr8,macaddr8)", &order_of_two<&compare_unsigned>},
    SWIZZLE_HASHES("hashmacaddr8", "hashmacaddr8extended", "macaddr8",
                   hash_of_address<kBytesOfLong>),
    {"~(macaddr8)", &invert<UINT64_MAX>},
    {"&(macaddr8,macaddr8)", &both},
    {"|(macaddr8,macaddr8)", &either},
    {"trunc(macaddr8)", &truncate<kLowFive>},
    {"macaddr(macaddr8)", &narrow},
    {"macaddr8_set7bit(macaddr8)", &set_seventh_bit},
};
constexpr FunctionsOfType kShortFunctions{.scalars = kShortScalars};
constexpr FunctionsOfType kLongFunctions{.scalars = kLongScalars};

}  // namespace

constinit const Type builtin::macaddr{
    .id = builtin_id::macaddr,
    .array = builtin_id::array_of_macaddr,
    .name = "macaddr",
    .sql_name = "macaddr",
    .length = kBytesOfShort,
    .storage = 'p',
    .in_btree_gist = true,
    .shape = Shape::uint64,
    .io = {&short_input, &output<kBytesOfShort>, &short_receive, &send<kBytesOfShort>},
    .order = kUint64Order,
    .functions = &kShortFunctions};
constinit const Type builtin::macaddr8{
    .id = builtin_id::macaddr8,
    .array = builtin_id::array_of_macaddr8,
    .name = "macaddr8",
    .sql_name = "macaddr8",
    .length = kBytesOfLong,
    .storage = 'p',
    .in_btree_gist = true,
    .shape = Shape::uint64,
    .io = {&long_input, &output<kBytesOfLong>, &long_receive, &send<kBytesOfLong>},
    .order = kUint64Order,
    .functions = &kLongFunctions};

}  // namespace swizzle::sql
