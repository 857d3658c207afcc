#include <optional>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_reader.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

ReadMoment read_moment(FunctionContext& context, Arguments a) {
  const auto nodes = datetime_template(a[1].as_text(), context.arena.account());
  return read_by_template(a[0].as_text(), *nodes, TemplateRules::lenient, session_zone(context));
}

Value text_to_timestamp(FunctionContext& context, Arguments a) {
  const ReadMoment moment = read_moment(context, a);
  const std::optional<i64> read = moment.timestamp();
  if (!read) throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
  const i64 local = checked_timestamp(*read);
  const i64 at = moment.seconds_east
                     ? checked_timestamp(local - *moment.seconds_east * kMicrosPerSecond)
                     : local_to_utc(local, session_zone(context));
  return Value::from_int(fit_timestamp(at, moment.precision));
}
Value text_to_date(FunctionContext& context, Arguments a) {
  const ReadMoment moment = read_moment(context, a);
  if (!is_valid_date(moment.days)) {
    throw_error(sqlstate::datetime_field_overflow, "date out of range: \"{}\"", a[0].as_text());
  }
  return Value::from_int(static_cast<std::int32_t>(moment.days));
}

constexpr ScalarEntry kFormattedInputEntries[] = {
    {"to_timestamp(text,text)", &text_to_timestamp},
    {"to_date(text,text)", &text_to_date},
};

}  // namespace

std::span<const ScalarEntry> formatted_input_functions() {
  return kFormattedInputEntries;
}

}  // namespace swizzle::sql
