// Functions that describe routines and triggers.
#include "sql-lite-frontend/routines/functions.h"

#include <fmt/format.h>

#include "sql-lite-frontend/routines/describe.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using RoutineArguments = std::span<const Value>;

Value shown_text(Execution& execution, std::string_view shown) {
  return Value::from_text(shown).copy_to(execution.row_arena);
}

Value function_result(Execution& execution, RoutineArguments arguments) {
  if (const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid())) {
    if (made->kind == RoutineKind::procedure) return Value::null();
    return shown_text(execution, shown_result(context_of(execution), *made));
  }
  const Function* function = find_function(arguments[0].as_oid());
  if (function == nullptr) return Value::null();
  std::string result = function->returns_set ? "SETOF " : "";
  return shown_text(execution, result + format_type(function->result));
}
Value function_definition(Execution& execution, RoutineArguments arguments) {
  const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid());
  if (made && made->kind == RoutineKind::aggregate) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is an aggregate function", made->name);
  }
  if (made) return shown_text(execution, shown_definition(context_of(execution), *made));
  const Function* function = find_function(arguments[0].as_oid());
  if (function == nullptr) return Value::null();
  if (function->kind == FunctionKind::aggregate) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is an aggregate function", function->name);
  }
  throw SqlError{sqlstate::feature_not_supported,
                 "pg_get_functiondef of a built-in function is not supported"};
}
Value function_body(Execution& execution, RoutineArguments arguments) {
  const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid());
  if (!made || made->form != BodyForm::atomic) return Value::null();
  return shown_text(execution, shown_atomic_body(context_of(execution), *made));
}
Value function_default(Execution& execution, RoutineArguments arguments) {
  const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid());
  const std::int32_t number = arguments[1].as_int4();
  if (!made || number < 1 || static_cast<std::size_t>(number) > made->parameters.size()) {
    return Value::null();
  }
  const RoutineParameter& parameter = made->parameters[static_cast<std::size_t>(number) - 1];
  if (parameter.default_sql.empty()) return Value::null();
  return shown_text(execution, shown_default(context_of(execution), parameter));
}
Value function_arguments(Execution& execution, RoutineArguments arguments) {
  if (const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid())) {
    return shown_text(execution,
                      shown_arguments(context_of(execution), *made, ShownDefaults::shown));
  }
  const Function* function = find_function(arguments[0].as_oid());
  if (function == nullptr) return Value::null();
  std::string list;
  for (std::size_t i = 0; i < function->arguments.size(); ++i) {
    if (i > 0) list += ", ";
    const bool variadic = function->variadic != TypeId::none && i + 1 == function->arguments.size();
    if (variadic) list += "VARIADIC ";
    if (i < function->argument_names.size() && !function->argument_names[i].empty()) {
      list += fmt::format("{} ", function->argument_names[i]);
    }
    list += format_type(function->arguments[i]);
    const std::size_t defaults = function->argument_defaults.size();
    if (i + defaults >= function->arguments.size()) {
      list += fmt::format(" DEFAULT {}",
                          function->argument_defaults[i + defaults - function->arguments.size()]);
    }
  }
  return shown_text(execution, list);
}
Value identity_arguments(Execution& execution, RoutineArguments arguments) {
  if (const RoutinePtr made = context_of(execution).catalog.routine(arguments[0].as_oid())) {
    return shown_text(execution,
                      shown_arguments(context_of(execution), *made, ShownDefaults::hidden));
  }
  return function_arguments(execution, arguments);
}

}  // namespace

std::span<const SessionEntry> routine_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_get_function_result", function_result},
      {"pg_get_function_arguments", function_arguments},
      {"pg_get_function_identity_arguments", identity_arguments},
      {"pg_get_function_arg_default", function_default},
      {"pg_get_functiondef", function_definition},
      {"pg_get_function_sqlbody", function_body},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
