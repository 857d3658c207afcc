#include <optional>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

/// pg_input_is_valid() and pg_input_error_info(): check a text against a type without raising an
/// error.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Parses a type's name with an optional modifier; throws SqlError if it does not exist.
TypeReference type_named(FunctionContext& context, std::string_view name) {
  const std::string_view body = trim_space(name);
  if (body.empty() || is_digit(body.front()) || body.front() == '-')
    throw_error(sqlstate::syntax_error, "invalid type name \"{}\"", name);
  TypeReference found;
  found.type = TypeId{input_text(context, TypeId::regtype, kNoTypmod, body).as_oid()};
  const auto spelled = parse_type_name(body);
  if (spelled && spelled->type == found.type) found.typmod = spelled->typmod;
  return found;
}

/// Returns the error of the type's input for the text. Errors that do not concern the text (cancel,
/// out of memory) are thrown.
std::optional<Error> error_of_input(FunctionContext& context, Arguments a) {
  const auto [type, typmod] = type_named(context, a[1].as_text());
  try {
    const Value read = input_text(context, base_type(type), typmod, a[0].as_text());
    if (is_domain(type)) enter_domain(context, type, read, Coercion::assignment);
  } catch (SqlError& error) {
    if (!is_about_definition(error.state())) throw;
    return std::move(error).take_error();
  }
  return std::nullopt;
}

Value is_valid(FunctionContext& context, Arguments a) {
  return Value::from_bool(!error_of_input(context, a));
}

/// Returns message, detail, hint and SQLSTATE; all NULL if the text is valid.
Value error_info(FunctionContext& context, Arguments a) {
  constexpr TypeId kTypes[] = {TypeId::text, TypeId::text, TypeId::text, TypeId::text};
  Value fields[4];
  if (const auto error = error_of_input(context, a)) {
    const auto shown = [&](std::string_view text) {
      return text.empty() ? Value::null() : make_text(context.arena, text);
    };
    fields[0] = shown(error->message());
    fields[1] = shown(error->detail());
    fields[2] = shown(error->hint());
    fields[3] = make_text(context.arena, error->state().code());
  }
  return make_record(context.arena, kTypes, fields);
}

Value base_of(FunctionContext& context, Arguments a) {
  const TypeId type{a[0].as_oid()};
  const auto is_of_users = [&] {
    return context.session.names != nullptr &&
           context.session.names->name_of(TypeId::regtype, raw(type)).has_value();
  };
  if (type == TypeId::none || (!is_built_in(type) && !is_of_users())) return Value::null();
  return Value::from_oid(raw(base_type(type)));
}

Value modifier_of(FunctionContext& context, Arguments a) {
  try {
    return Value::from_int(type_named(context, a[0].as_text()).typmod);
  } catch (const SqlError& error) {
    if (error.state() == sqlstate::undefined_object ||
        error.state() == sqlstate::invalid_schema_name)
      return Value::null();
    throw;
  }
}

constexpr ScalarEntry kInputCheckEntries[] = {
    {"pg_input_is_valid(text,text)", &is_valid},
    {"pg_input_error_info(text,text)", &error_info},
    {"pg_basetype(regtype)", &base_of},
    {"to_regtypemod(text)", &modifier_of},
};

}  // namespace

std::span<const ScalarEntry> input_check_functions() {
  return kInputCheckEntries;
}

}  // namespace swizzle::sql
