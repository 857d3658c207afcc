#include "sql-lite-frontend/catalog/callable_routine.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/native_functions.h"

namespace swizzle::sql {
namespace {

FindNative native_functions = nullptr;

}  // namespace

void set_native_functions(FindNative find) noexcept {
  native_functions = find;
}

NativeFunction find_native(const Routine& routine) {
  return native_functions == nullptr ? NativeFunction{} : native_functions(routine);
}

Volatility volatility_of(char letter) noexcept {
  if (letter == 'i') return Volatility::immutable;
  return letter == 's' ? Volatility::stable : Volatility::volatile_;
}

std::vector<const RoutineParameter*> output_columns_of(const Routine& routine) {
  std::vector<const RoutineParameter*> columns;
  for (const RoutineParameter& parameter : routine.parameters) {
    if (parameter.is_output()) columns.push_back(&parameter);
  }
  // A procedure's only one is a column still: CALL answers with a row.
  if (columns.size() == 1 && routine.kind == RoutineKind::function &&
      routine.result != TypeId::record) {
    columns.clear();
  }
  return columns;
}

TypeId variadic_element(TypeId parameter) noexcept {
  if (parameter == TypeId::any) return TypeId::any;
  if (parameter == TypeId::anyarray) return TypeId::anyelement;
  if (parameter == TypeId::anycompatiblearray) return TypeId::anycompatible;
  return element_type(parameter);
}

CallableRoutine::CallableRoutine(RoutinePtr of) : routine(std::move(of)) {
  bool any_name = false;
  for (const RoutineParameter& parameter : routine->parameters) {
    // CALL also needs an argument for each output parameter of a procedure.
    const bool is_given = parameter.is_input() || routine->kind == RoutineKind::procedure;
    if (!is_given) continue;
    arguments.push_back(parameter.type);
    argument_names.push_back(parameter.name);
    any_name |= !parameter.name.empty();
    if (!parameter.default_sql.empty()) argument_defaults.push_back(parameter.default_sql);
    if (parameter.mode == ParameterMode::variadic) {
      function.variadic = variadic_element(parameter.type);
    }
  }
  if (!any_name) argument_names.clear();
  for (const RoutineParameter* column : output_columns_of(*routine)) {
    column_names.push_back(column->name);
    column_types.push_back(column->type);
  }
  function.oid = routine->oid;
  function.name = routine->name;
  function.kind = routine->returns_set ? FunctionKind::set : FunctionKind::scalar;
  if (routine->kind == RoutineKind::aggregate) function.kind = FunctionKind::aggregate;
  function.volatility = volatility_of(routine->volatility);
  function.strict = routine->strict;
  function.returns_set = routine->returns_set;
  function.result = routine->result;
  function.arguments = arguments;
  function.argument_names = argument_names;
  function.argument_defaults = argument_defaults;
  function.column_names = column_names;
  function.column_types = column_types;
  function.routine = this;
  if (routine->language == "c" || routine->language == "internal") {
    const NativeFunction native = find_native(*routine);
    function.scalar = native.scalar;
    function.set = native.set;
  }
}

}  // namespace swizzle::sql
