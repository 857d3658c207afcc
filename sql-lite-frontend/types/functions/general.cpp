#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/functions/any_arguments.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value type_of(FunctionContext& context, Arguments) {
  return Value::from_oid(raw(context.call.arguments[0]));
}

Value show_type(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  const TypeId type{a[0].as_oid()};
  const std::int32_t typmod = a[1].is_null() ? kNoTypmod : std::max(a[1].as_int4(), kNoTypmod);
  // User-defined types may need a schema; a type without a definition is shown as "???".
  if (type != TypeId::none && !is_built_in(type)) {
    const auto name = context.session.names == nullptr
                          ? std::nullopt
                          : context.session.names->name_of(TypeId::regtype, raw(type));
    return make_text(context.arena, name.value_or("???"));
  }
  // An explicit modifier of "none" belongs to a column, whose type must be printed so that it reads
  // back the same.
  const bool is_of_column = !a[1].is_null() && type != TypeId::none && find_type(type) != nullptr;
  return make_text(context.arena,
                   is_of_column ? cast_target(type, typmod) : format_type(type, typmod));
}

Value count_nulls(FunctionContext& context, Arguments a) {
  const AnyArguments all{context, a, 0};
  if (all.is_null()) return Value::null();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    count += static_cast<std::int64_t>(all.value(i).is_null());
  return Value::from_int(count);
}
Value count_values(FunctionContext& context, Arguments a) {
  const AnyArguments all{context, a, 0};
  if (all.is_null()) return Value::null();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    count += static_cast<std::int64_t>(!all.value(i).is_null());
  return Value::from_int(count);
}

/// Transaction ids have 64 bits and do not wrap around, so the age is always 0.
Value no_age(FunctionContext&, Arguments) {
  return Value::from_int(0);
}

Value record_bytes(FunctionContext& context, Arguments a) {
  std::string out;
  send_binary(context, TypeId::record, a[0], out);
  return make_bytes(context.arena, as_bytes(out));
}

constexpr ScalarEntry kGeneralEntries[] = {
    {"age(xid)", &no_age},
    {"mxid_age(xid)", &no_age},
    {"pg_typeof(any)", &type_of},
    {"format_type(oid,int4)", &show_type},
    {"num_nulls(any)", &count_nulls},
    {"num_nonnulls(any)", &count_values},
    {"record_send(record)", &record_bytes},
};

}  // namespace

std::span<const ScalarEntry> general_functions() {
  return kGeneralEntries;
}

}  // namespace swizzle::sql
