// pg_proc: the server's routines, and the user-defined ones.
#include <algorithm>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/routines/describe.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

namespace swizzle::sql {
namespace {

constexpr Oid kInternalLanguage = 12;
constexpr Oid kSqlLanguage = 14;
constexpr Oid kPlpgsqlLanguage = 13563;
constexpr Oid kCLanguage = 13;

Oid language_number(std::string_view name) {
  if (name == "plpgsql") return kPlpgsqlLanguage;
  if (name == "c") return kCLanguage;
  return name == "internal" ? kInternalLanguage : kSqlLanguage;
}

Value type_vector(Execution& execution, std::span<const TypeId> types) {
  std::vector<Value> values;
  for (const TypeId type : types) values.push_back(Value::from_oid(raw(type)));
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  if (values.empty()) return make_array(execution.row_arena, TypeId::oid, {}, values);
  return make_array(execution.row_arena, TypeId::oid, {&dimension, 1}, values);
}

Value name_list(Execution& execution, std::span<const std::string_view> names) {
  if (std::ranges::all_of(names, [](std::string_view name) { return name.empty(); })) {
    return Value::null();
  }
  std::vector<Value> values;
  for (const std::string_view name : names) values.push_back(text_value(execution, name));
  return make_array(execution.row_arena, TypeId::text, values);
}

/// Describes a function that SQL cannot call: a type's input, output, receive and send functions,
/// estimators.
Function as_function(const FunctionName& internal) {
  Function function;
  function.oid = internal.oid;
  function.name = internal.name;
  function.volatility = volatility_of(internal.volatility);
  function.strict = internal.strict;
  function.result = internal.result;
  function.arguments = internal.arguments();
  return function;
}

void emit_builtin(Execution& execution, const EmitRow& emit, const Function& function) {
  constexpr char kKinds[] = {'f', 'f', 'a', 'w'};
  constexpr char kVolatilities[] = {'i', 's', 'v'};
  const Value row[] = {Value::from_oid(function.oid),
                       text_value(execution, function.name),
                       Value::from_oid(kPgCatalogSchema),
                       Value::from_oid(kBootstrapRole),
                       Value::from_oid(kInternalLanguage),
                       Value::from_float4(1),
                       Value::from_float4(function.returns_set ? 1000 : 0),
                       Value::from_oid(raw(function.variadic)),
                       letter(kKinds[static_cast<std::size_t>(function.kind)]),
                       flag(false),
                       flag(function.strict),
                       flag(function.returns_set),
                       letter(kVolatilities[static_cast<std::size_t>(function.volatility)]),
                       letter('s'),
                       number(function.arguments.size()),
                       number(function.argument_defaults.size()),
                       Value::from_oid(raw(function.result)),
                       type_vector(execution, function.arguments),
                       name_list(execution, function.argument_names),
                       text_value(execution, function.name),
                       flag(false),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null()};
  emit(row);
}

/// Values of proallargtypes, proargmodes and proargnames: NULL if all parameters are IN.
struct AllParameters {
  Value types = Value::null();
  Value modes = Value::null();
};
AllParameters all_parameters(Execution& execution, const Routine& routine) {
  const bool all_in = std::ranges::all_of(
      routine.parameters, [](const RoutineParameter& p) { return p.mode == ParameterMode::in; });
  if (all_in) return {};
  std::vector<Value> types;
  std::vector<Value> modes;
  for (const RoutineParameter& parameter : routine.parameters) {
    types.push_back(Value::from_oid(raw(parameter.type)));
    modes.push_back(letter(static_cast<char>(parameter.mode)));
  }
  return {make_array(execution.row_arena, TypeId::oid, types),
          make_array(execution.row_arena, TypeId::char_, modes)};
}

Value defaults_value(Execution& execution, const Routine& routine) {
  std::string list;
  for (const RoutineParameter& parameter : routine.parameters) {
    if (parameter.default_sql.empty()) continue;
    if (!list.empty()) list += ", ";
    list += shown_default(context_of(execution), parameter);
  }
  return list.empty() ? Value::null() : text_value(execution, list);
}

void emit_routine(Execution& execution, const EmitRow& emit, const CallableRoutine& callable) {
  const Routine& routine = *callable.routine;
  const std::vector<TypeId> inputs = routine.argument_types();
  std::vector<std::string_view> names;
  // For a relation's row type, PostgreSQL shows only the type.
  const bool of_relation = routine.result_relation != kNoOid;
  Routine shown = routine;
  if (of_relation) {
    std::erase_if(shown.parameters,
                  [](const RoutineParameter& p) { return p.mode == ParameterMode::table; });
  }
  for (const RoutineParameter& parameter : shown.parameters) names.push_back(parameter.name);
  const AllParameters all = all_parameters(execution, shown);
  Oid result = raw(routine.result);
  if (const TablePtr table =
          of_relation ? context_of(execution).names.table(routine.result_relation) : nullptr) {
    result = table->relation.row_type;
  }
  std::vector<Value> settings;
  for (const std::string& setting : routine.settings) {
    settings.push_back(text_value(execution, setting));
  }
  const bool is_atomic = routine.form == BodyForm::atomic;
  const Value row[] = {
      Value::from_oid(routine.oid),
      text_value(execution, routine.name),
      Value::from_oid(routine.schema),
      Value::from_oid(routine.owner),
      Value::from_oid(language_number(routine.language)),
      Value::from_float4(routine.cost),
      Value::from_float4(routine.rows),
      Value::from_oid(raw(callable.function.variadic)),
      letter(static_cast<char>(routine.kind)),
      flag(routine.security_definer),
      flag(routine.strict),
      flag(routine.returns_set),
      letter(routine.volatility),
      letter(routine.parallel),
      number(inputs.size()),
      number(callable.argument_defaults.size()),
      Value::from_oid(result),
      type_vector(execution, inputs),
      name_list(execution, names),
      text_value(execution, is_atomic ? std::string_view{} : routine.body),
      flag(routine.leakproof),
      all.types,
      all.modes,
      defaults_value(execution, routine),
      is_atomic ? text_value(execution, shown_atomic_body(context_of(execution), routine))
                : Value::null(),
      settings.empty() ? Value::null() : make_array(execution.row_arena, TypeId::text, settings),
      acl_value(execution, routine.grants),
      routine.object_file.empty() ? Value::null() : text_value(execution, routine.object_file)};
  emit(row);
}

}  // namespace

void procedure_rows(Execution& execution, const EmitRow& emit) {
  for (const Function& builtin : builtin_functions()) emit_builtin(execution, emit, builtin);
  for (const FunctionName& internal : internal_function_names()) {
    // Some internal functions are also among the callable ones, which have been emitted already.
    if (find_function(internal.oid) == nullptr) {
      emit_builtin(execution, emit, as_function(internal));
    }
  }
  StatementContext& session = context_of(execution);
  for (const RoutinePtr& routine : session.catalog.routines()) {
    // Temporary functions of other sessions have a schema that this one does not know.
    if (session.names.schema_name(routine->schema).empty()) continue;
    emit_routine(execution, emit, *session.names.callable_of(routine));
  }
}

}  // namespace swizzle::sql
