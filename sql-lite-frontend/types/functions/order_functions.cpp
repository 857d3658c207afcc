#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/entries.h"

/// The functions of PostgreSQL's btree classes, which can also be called.
namespace swizzle::sql {
namespace {

/// Returns -1, 0 or 1.
template <TypeId type>
Value compare_pair(FunctionContext&, std::span<const Value> a) {
  static const CompareFunction kCompare = compare_function(type);
  const int by = kCompare(a[0], a[1]);
  return Value::from_int(by < 0 ? -1 : by > 0 ? 1 : 0);
}

constexpr ScalarEntry kOrderEntries[] = {
    {"btint2cmp(int2,int2)", &compare_pair<builtin_id::int2>},
    {"btint4cmp(int4,int4)", &compare_pair<builtin_id::int4>},
    {"btint8cmp(int8,int8)", &compare_pair<builtin_id::int8>},
    {"btint24cmp(int2,int4)", &compare_pair<builtin_id::int8>},
    {"btint28cmp(int2,int8)", &compare_pair<builtin_id::int8>},
    {"btint42cmp(int4,int2)", &compare_pair<builtin_id::int8>},
    {"btint48cmp(int4,int8)", &compare_pair<builtin_id::int8>},
    {"btint82cmp(int8,int2)", &compare_pair<builtin_id::int8>},
    {"btint84cmp(int8,int4)", &compare_pair<builtin_id::int8>},
    {"btfloat4cmp(float4,float4)", &compare_pair<builtin_id::float4>},
    {"btfloat8cmp(float8,float8)", &compare_pair<builtin_id::float8>},
    {"btoidcmp(oid,oid)", &compare_pair<builtin_id::oid>},
    {"bttidcmp(tid,tid)", &compare_pair<builtin_id::tid>},
    {"xid8cmp(xid8,xid8)", &compare_pair<builtin_id::xid8>},
    {"numeric_cmp(numeric,numeric)", &compare_pair<builtin_id::numeric>},
    {"date_cmp(date,date)", &compare_pair<builtin_id::date>},
    {"time_cmp(time,time)", &compare_pair<TypeId::time>},
    {"timetz_cmp(timetz,timetz)", &compare_pair<builtin_id::timetz>},
    {"timestamp_cmp(timestamp,timestamp)", &compare_pair<builtin_id::timestamp>},
    {"timestamptz_cmp(timestamptz,timestamptz)", &compare_pair<builtin_id::timestamptz>},
    {"interval_cmp(interval,interval)", &compare_pair<builtin_id::interval>},
    {"network_cmp(inet,inet)", &compare_pair<builtin_id::inet>},
    {"pg_lsn_cmp(pg_lsn,pg_lsn)", &compare_pair<builtin_id::pg_lsn>},
    {"btarraycmp(anyarray,anyarray)", &compare_pair<builtin_id::array_of_int4>},
    {"btrecordcmp(record,record)", &compare_pair<TypeId::record>},
};

}  // namespace

std::span<const ScalarEntry> order_functions() {
  return kOrderEntries;
}

}  // namespace swizzle::sql
