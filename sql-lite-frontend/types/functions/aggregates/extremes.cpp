#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/entries.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// The functions behind min() and max(), which can also be called. They take the second of two
/// equal values, except for bpchar.
template <TypeId type>
int order(Arguments a) {
  static const CompareFunction compare = compare_function(type);
  const int by = compare(a[0], a[1]);
  return by == 0 && type == TypeId::bpchar ? 1 : by;
}
template <TypeId type>
Value larger(FunctionContext&, Arguments a) {
  return order<type>(a) > 0 ? a[0] : a[1];
}
template <TypeId type>
Value smaller(FunctionContext&, Arguments a) {
  static const CompareFunction compare = compare_function(type);
  const int by = compare(a[0], a[1]);
  return by < 0 || (by == 0 && type == TypeId::bpchar) ? a[0] : a[1];
}

#define SWIZZLE_EXTREME(name, spelled, type)                 \
  {name "larger(" spelled "," spelled ")", &larger<type>}, { \
    name "smaller(" spelled "," spelled ")", &smaller<type>  \
  }

constexpr ScalarEntry kExtremesEntries[] = {
    SWIZZLE_EXTREME("int2", "int2", TypeId::int2),
    SWIZZLE_EXTREME("int4", "int4", TypeId::int4),
    SWIZZLE_EXTREME("int8", "int8", TypeId::int8),
    SWIZZLE_EXTREME("float4", "float4", TypeId::float4),
    SWIZZLE_EXTREME("float8", "float8", TypeId::float8),
    SWIZZLE_EXTREME("oid", "oid", TypeId::oid),
    SWIZZLE_EXTREME("text_", "text", TypeId::text),
    SWIZZLE_EXTREME("bpchar_", "bpchar", TypeId::bpchar),
    SWIZZLE_EXTREME("numeric_", "numeric", TypeId::numeric),
    SWIZZLE_EXTREME("date_", "date", TypeId::date),
    SWIZZLE_EXTREME("time_", "time", TypeId::time),
    SWIZZLE_EXTREME("timetz_", "timetz", TypeId::timetz),
    SWIZZLE_EXTREME("timestamp_", "timestamp", TypeId::timestamp),
    SWIZZLE_EXTREME("timestamptz_", "timestamptz", TypeId::timestamptz),
    SWIZZLE_EXTREME("interval_", "interval", TypeId::interval),
    SWIZZLE_EXTREME("network_", "inet", TypeId::inet),
    SWIZZLE_EXTREME("xid8_", "xid8", TypeId::xid8),
    SWIZZLE_EXTREME("tid", "tid", TypeId::tid),
    SWIZZLE_EXTREME("bytea_", "bytea", TypeId::bytea),
    SWIZZLE_EXTREME("record_", "record", TypeId::record),
    SWIZZLE_EXTREME("array_", "anyarray", TypeId::int4_array),
    SWIZZLE_EXTREME("enum_", "anyenum", TypeId::int8),
};

}  // namespace

std::span<const ScalarEntry> extreme_functions() {
  return kExtremesEntries;
}

}  // namespace swizzle::sql
