#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user/enum_values.h"

/// Labels of an enum, and their order. The type is the call's: its argument may be NULL.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

TypeId enum_of_call(const FunctionContext& context) {
  const TypeId type = context.call.arguments.empty() ? TypeId::none : context.call.arguments[0];
  if (!is_enum(type))
    throw SqlError{sqlstate::feature_not_supported, "could not determine actual enum type"};
  return type;
}

const EnumLabels& labels_of_call(FunctionContext& context) {
  return enum_labels(context, enum_of_call(context));
}

const EnumLabels& some_labels(FunctionContext& context) {
  const EnumLabels& labels = labels_of_call(context);
  if (labels.labels.empty())
    throw_error(sqlstate::object_not_in_prerequisite_state, "enum {} contains no values",
                labels.type_name);
  return labels;
}

Value first_label(FunctionContext& context, Arguments) {
  const EnumLabels& labels = some_labels(context);
  return enum_value(labels, labels.labels.front());
}
Value last_label(FunctionContext& context, Arguments) {
  const EnumLabels& labels = some_labels(context);
  return enum_value(labels, labels.labels.back());
}

/// Returns the labels from `first` to `last`; a NULL is no bound.
Value labels_between(FunctionContext& context, const Value& first, const Value& last) {
  const TypeId type = enum_of_call(context);
  const EnumLabels& labels = enum_labels(context, type);
  std::vector<Value> values;
  for (const EnumLabel& label : labels.labels) {
    if (!first.is_null() && label.position < first.as_int8()) continue;
    if (!last.is_null() && label.position > last.as_int8()) break;
    values.push_back(enum_value(labels, label));
  }
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 1};
  const std::span<const ArrayDimension> dimensions{&dimension, values.empty() ? 0U : 1U};
  return make_array(context.arena, type, dimensions, values);
}
Value all_labels(FunctionContext& context, Arguments) {
  return labels_between(context, Value::null(), Value::null());
}
Value some_range(FunctionContext& context, Arguments a) {
  return labels_between(context, a[0], a[1]);
}

Value label_bytes(FunctionContext& context, Arguments a) {
  std::string out;
  send_binary(context, enum_of_call(context), a[0], out);
  return Value::from_text(out).copy_to(context.arena);
}

Value compare_labels(FunctionContext&, Arguments a) {
  const std::int64_t left = a[0].as_int8();
  const std::int64_t right = a[1].as_int8();
  return Value::from_int(static_cast<int>(left > right) - static_cast<int>(left < right));
}

constexpr ScalarEntry kEnumEntries[] = {
    {"enum_first(anyenum)", &first_label},          {"enum_last(anyenum)", &last_label},
    {"enum_range(anyenum)", &all_labels},           {"enum_range(anyenum,anyenum)", &some_range},
    {"enum_cmp(anyenum,anyenum)", &compare_labels}, {"enum_send(anyenum)", &label_bytes},
};

}  // namespace

std::span<const ScalarEntry> enum_functions() {
  return kEnumEntries;
}

}  // namespace swizzle::sql
