#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Arithmetic with positions in the log.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Int128 position(const Value& value) {
  return static_cast<std::uint64_t>(value.as_int8());
}
Value bytes_between(FunctionContext& context, Arguments a) {
  return numeric_from_int128(context.arena, position(a[0]) - position(a[1]), 0);
}

/// The position that a number of bytes names. 22023 when there is none.
Value position_of(FunctionContext& context, const Value& number) {
  const Value end = numeric_round(context.arena, number, 0);
  const Value last = numeric_from_int128(context.arena, Int128{UINT64_MAX}, 0);
  if (numeric_sign(end) < 0 || numeric_compare(end, last) > 0) {
    throw SqlError{sqlstate::invalid_parameter_value, "pg_lsn out of range"};
  }
  std::string text;
  append_numeric(text, end);
  // The positions from 2^63 on are negative numbers to the values that hold them.
  return Value::from_int(static_cast<std::int64_t>(std::stoull(text)));
}
Value behind(FunctionContext& context, const Value& from, const Value& bytes) {
  if (numeric_is_nan(bytes)) {
    throw SqlError{sqlstate::feature_not_supported, "cannot add NaN to pg_lsn"};
  }
  const Value start = numeric_from_int128(context.arena, position(from), 0);
  return position_of(context, numeric_add(context.arena, start, bytes));
}
Value from_number(FunctionContext& context, Arguments a) {
  if (numeric_is_nan(a[0])) {
    throw SqlError{sqlstate::feature_not_supported, "cannot convert NaN to pg_lsn"};
  }
  return position_of(context, a[0]);
}
Value add(FunctionContext& context, Arguments a) {
  return behind(context, a[0], a[1]);
}
Value add_to_bytes(FunctionContext& context, Arguments a) {
  return behind(context, a[1], a[0]);
}
Value subtract(FunctionContext& context, Arguments a) {
  if (numeric_is_nan(a[1])) {
    throw SqlError{sqlstate::feature_not_supported, "cannot subtract NaN from pg_lsn"};
  }
  const Value start = numeric_from_int128(context.arena, position(a[0]), 0);
  return position_of(context, numeric_subtract(context.arena, start, a[1]));
}

constexpr ScalarEntry kLsnEntries[] = {
    {"pg_wal_lsn_diff(pg_lsn,pg_lsn)", &bytes_between},
    {"-(pg_lsn,pg_lsn)", &bytes_between},
    {"pg_lsn(numeric)", &from_number},
    {"+(pg_lsn,numeric)", &add},
    {"+(numeric,pg_lsn)", &add_to_bytes},
    {"-(pg_lsn,numeric)", &subtract},
};

}  // namespace

std::span<const ScalarEntry> lsn_functions() {
  return kLsnEntries;
}

}  // namespace swizzle::sql
