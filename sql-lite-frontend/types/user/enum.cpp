#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user/enum_values.h"

namespace swizzle::sql {

const EnumLabels& enum_labels(FunctionContext& context, TypeId type) {
  const EnumLabels* labels =
      context.session.names == nullptr ? nullptr : context.session.names->enum_labels(type);
  if (labels == nullptr)
    throw_error(sqlstate::undefined_object, "type with OID {} does not exist", raw(type));
  return *labels;
}

Value enum_value(const EnumLabels& labels, const EnumLabel& label) {
  if (std::ranges::find(labels.uncommitted, label.position) != labels.uncommitted.end())
    throw sql_error(sqlstate::unsafe_new_enum_value_usage,
                    "unsafe use of new value \"{}\" of enum type {}", label.name, labels.type_name)
        .with_hint("New enum values must be committed before they can be used.");
  return Value::from_int(label.position);
}

namespace {

/// Reads a label. Without names, as in stored expressions, the text is its position.
Value enum_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  if (context.session.names == nullptr)
    return Value::from_int(parse_integer(TypeId::int8, text, INT64_MIN, INT64_MAX));
  const EnumLabels& labels = enum_labels(context, type);
  const EnumLabel* label = labels.named(text);
  if (label == nullptr)
    throw_error(sqlstate::invalid_text_representation, "invalid input value for enum {}: \"{}\"",
                labels.type_name, text);
  return enum_value(labels, *label);
}

void enum_output(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  if (context.session.names == nullptr) {
    out += fmt::format("{}", value.as_int8());
    return;
  }
  const EnumLabel* label = enum_labels(context, type).at(value.as_int8());
  if (label == nullptr)
    throw_error(sqlstate::invalid_binary_representation, "invalid internal value for enum: {}",
                value.as_int8());
  out += label->name;
}

Value enum_receive(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  // The codec of text checks that it is valid UTF-8.
  const Value text = builtin::text.io.receive(context, TypeId::text, kNoTypmod, bytes);
  return enum_input(context, type, typmod, text.as_text());
}

}  // namespace

constexpr TypeCodec kEnumCodec{enum_input, enum_output, enum_receive, enum_output};

namespace {

/// Rows and keys hold a label's position.
constinit const Type kEnum{.length = 4,
                           .by_value = true,
                           .category = 'E',
                           .storage = 'p',
                           .kind = 'e',
                           .shape = Shape::int64,
                           .io = kEnumCodec,
                           .order = kInt64Order,
                           .operators_of = TypeId::anyenum};

}  // namespace

const Type& enum_prototype() noexcept {
  return kEnum;
}

}  // namespace swizzle::sql
