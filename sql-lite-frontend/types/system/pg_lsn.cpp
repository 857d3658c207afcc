#include <charconv>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"

/// pg_lsn: a position in the log, written as two hexadecimal halves ("16/B374D848").
namespace swizzle::sql {
namespace {

constexpr std::size_t kMostDigits = 8;

/// Takes one half off the front of the text; nothing unless it has one to eight digits.
std::optional<std::uint32_t> take_half(std::string_view& text) {
  std::uint32_t half = 0;
  const char* const limit = text.data() + std::min(text.size(), kMostDigits);
  const auto [end, error] = std::from_chars(text.data(), limit, half, 16);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return half;
}

Value lsn_input(FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
  std::string_view rest = text;
  const auto high = take_half(rest);
  if (!high || !rest.starts_with('/')) throw_invalid_syntax(type, text);
  rest.remove_prefix(1);
  const auto low = take_half(rest);
  if (!low || !rest.empty()) throw_invalid_syntax(type, text);
  return Value::from_int(static_cast<std::int64_t>(std::uint64_t{*high} << 32U | *low));
}

void lsn_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const auto position = static_cast<std::uint64_t>(value.as_int8());
  out += fmt::format("{:X}/{:X}", position >> 32U, position & UINT32_MAX);
}

Value lsn_receive(FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto position = reader.take<std::int64_t>();
  reader.finish();
  return Value::from_int(position);
}

void lsn_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  append_big_endian(out, value.as_int8());
}

constexpr TypeCodec kLsnCodec{lsn_input, lsn_output, lsn_receive, lsn_send};

// Arithmetic with positions.

Int128 position(const Value& value) {
  return static_cast<std::uint64_t>(value.as_int8());
}
Value bytes_between(FunctionContext& context, std::span<const Value> a) {
  return numeric_from_int128(context.arena, position(a[0]) - position(a[1]), 0);
}

/// Returns the position with this number of bytes before it; throws 22023 if there is none.
Value position_of(FunctionContext& context, const Value& number) {
  const Value end = numeric_round(context.arena, number, 0);
  const Value last = numeric_from_int128(context.arena, Int128{UINT64_MAX}, 0);
  if (numeric_sign(end) < 0 || numeric_compare(end, last) > 0) {
    throw SqlError{sqlstate::invalid_parameter_value, "pg_lsn out of range"};
  }
  std::string text;
  append_numeric(text, end);
  // Values hold the positions from 2^63 on as negative numbers.
  return Value::from_int(static_cast<std::int64_t>(std::stoull(text)));
}
Value behind(FunctionContext& context, const Value& from, const Value& bytes) {
  if (numeric_is_nan(bytes)) {
    throw SqlError{sqlstate::feature_not_supported, "cannot add NaN to pg_lsn"};
  }
  const Value start = numeric_from_int128(context.arena, position(from), 0);
  return position_of(context, numeric_add(context.arena, start, bytes));
}
Value from_number(FunctionContext& context, std::span<const Value> a) {
  if (numeric_is_nan(a[0])) {
    throw SqlError{sqlstate::feature_not_supported, "cannot convert NaN to pg_lsn"};
  }
  return position_of(context, a[0]);
}
Value add(FunctionContext& context, std::span<const Value> a) {
  return behind(context, a[0], a[1]);
}
Value add_to_bytes(FunctionContext& context, std::span<const Value> a) {
  return behind(context, a[1], a[0]);
}
Value subtract(FunctionContext& context, std::span<const Value> a) {
  if (numeric_is_nan(a[1])) {
    throw SqlError{sqlstate::feature_not_supported, "cannot subtract NaN from pg_lsn"};
  }
  const Value start = numeric_from_int128(context.arena, position(a[0]), 0);
  return position_of(context, numeric_subtract(context.arena, start, a[1]));
}

constexpr ScalarEntry kScalars[] = {
    SWIZZLE_COMPARISONS_OF("pg_lsn", compare_unsigned),
    SWIZZLE_LARGER_SMALLER_OF("pg_lsn_", "pg_lsn", compare_unsigned),
    SWIZZLE_HASHES("pg_lsn_hash", "pg_lsn_hash_extended", "pg_lsn", hash_of_int8),
    {"pg_wal_lsn_diff(pg_lsn,pg_lsn)", &bytes_between},
    {"-(pg_lsn,pg_lsn)", &bytes_between},
    {"pg_lsn(numeric)", &from_number},
    {"+(pg_lsn,numeric)", &add},
    {"+(numeric,pg_lsn)", &add_to_bytes},
    {"-(pg_lsn,numeric)", &subtract},
};
constexpr AggregateEntry kAggregates[] = {SWIZZLE_MIN_MAX_OF("pg_lsn", compare_unsigned)};
constexpr FunctionsOfType kFunctions{.scalars = kScalars, .aggregates = kAggregates};

}  // namespace

constinit const Type builtin::pg_lsn{.id = TypeId::pg_lsn,
                                     .array = TypeId::pg_lsn_array,
                                     .name = "pg_lsn",
                                     .sql_name = "pg_lsn",
                                     .length = 8,
                                     .by_value = true,
                                     .alignment = 'd',
                                     .storage = 'p',
                                     .shape = Shape::uint64,
                                     .io = kLsnCodec,
                                     .order = kUint64Order,
                                     .functions = &kFunctions};

}  // namespace swizzle::sql
