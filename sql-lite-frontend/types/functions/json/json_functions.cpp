#include <fmt/format.h>

#include "sql-lite-frontend/types/functions/any_arguments.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Type that a function builds: the error messages of json's and jsonb's differ.
enum class Form : std::uint8_t { json, jsonb };

[[noreturn]] void refuse_odd_arguments(Form form) {
  throw SqlError{sqlstate::invalid_parameter_value,
                 "argument list must have even number of elements"}
      .with_hint(fmt::format(
          "The arguments of {}_build_object() must consist of alternating keys and values.",
          form == Form::json ? "json" : "jsonb"));
}
[[noreturn]] void refuse_null_key(Form form, std::size_t argument) {
  if (form == Form::jsonb) {
    throw_error(sqlstate::invalid_parameter_value, "argument {}: key must not be null", argument);
  }
  throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for object key"};
}

template <Form form>
Value build_object(FunctionContext& context, Arguments a) {
  const AnyArguments arguments{context, a, 0};
  if (arguments.is_null()) return Value::null();
  if (arguments.size() % 2 != 0) refuse_odd_arguments(form);
  TextBuilder out{context.arena};
  out += "{";
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i > 0) out += ", ";
    if (arguments.value(i).is_null()) refuse_null_key(form, i + 1);
    std::string key;
    json_key_text(context, arguments.type(i), arguments.value(i), key);
    std::string quoted;
    append_json_string(key, quoted);
    out += quoted;
    out += " : ";
    add_json(context, arguments.type(i + 1), arguments.value(i + 1), out);
  }
  out += "}";
  return out.finish();
}

Value build_array(FunctionContext& context, Arguments a) {
  const AnyArguments arguments{context, a, 0};
  if (arguments.is_null()) return Value::null();
  TextBuilder out{context.arena};
  out += "[";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += ", ";
    add_json(context, arguments.type(i), arguments.value(i), out);
  }
  out += "]";
  return out.finish();
}

Value empty_object(FunctionContext& context, Arguments) {
  return make_text(context.arena, "{}");
}
Value empty_array(FunctionContext& context, Arguments) {
  return make_text(context.arena, "[]");
}

Value to_json(FunctionContext& context, Arguments a) {
  TextBuilder out{context.arena};
  add_json(context, context.call.arguments[0], a[0], out);
  return out.finish();
}

Value pretty_row(FunctionContext& context, Arguments a) {
  if (!a[1].as_bool()) return to_json(context, a);
  const WritingShare share{context, 2 * bytes_of(a)};
  std::string out;
  append_pretty_row(context, a[0], out);
  return make_text(context.arena, out);
}

/// The same for jsonb: the result is converted to its spelling.
template <ScalarFunction make>
Value as_jsonb(FunctionContext& context, Arguments a) {
  const Value json = make(context, a);
  return json.is_null() ? json : as_jsonb_value(context, json.as_text());
}

constexpr ScalarEntry kJsonFunctionsEntries[] = {
    {"jsonb_build_object(any)", &as_jsonb<&build_object<Form::jsonb>>},
    {"jsonb_build_object()", &empty_object},
    {"jsonb_build_array(any)", &as_jsonb<&build_array>},
    {"jsonb_build_array()", &empty_array},
    {"to_jsonb(anyelement)", &as_jsonb<&to_json>},
    {"json_build_object(any)", &build_object<Form::json>},
    {"json_build_object()", &empty_object},
    {"json_build_array(any)", &build_array},
    {"json_build_array()", &empty_array},
    {"to_json(anyelement)", &to_json},
    {"row_to_json(record)", &to_json},
    {"row_to_json(record,bool)", &pretty_row},
    {"array_to_json(anyarray)", &to_json},
};

}  // namespace

std::span<const ScalarEntry> json_functions() {
  return kJsonFunctionsEntries;
}

}  // namespace swizzle::sql
