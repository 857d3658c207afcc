#include "sql-lite-frontend/routines/call.h"

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/routines/routine_services.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Runs CALL.
namespace swizzle::sql {
namespace {

std::vector<OutputTarget> targets_of(const RoutineCall& call) {
  std::vector<OutputTarget> targets;
  const CallableRoutine& callable = *call.callable;
  for (std::size_t i = 0; i < callable.column_names.size(); ++i) {
    OutputTarget target;
    target.name = callable.column_names[i].empty() ? "column" + std::to_string(i + 1)
                                                   : std::string{callable.column_names[i]};
    target.type = call.column_types[i];
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

DescribedCall describe_call(StatementContext& session, const ast::CallStmt& statement,
                            std::span<const TypeId> types) {
  Arena arena;
  Binder binder{session.names, arena};
  binder.allow_parameters(types);
  const Binder::ProcedureCall bound = binder.bind_procedure_call(*statement.funccall);
  binder.require_parameter_types();
  return {targets_of(*bound.call), binder.parameter_types()};
}

void call_procedure(StatementContext& session, const ast::CallStmt& statement,
                    std::span<const TypeId> types, std::span<const Value> parameters,
                    ResultSink& sink) {
  const std::unique_ptr<Scratch> scratch = session.new_scratch();
  Binder binder{session.names, scratch->arena};
  if (!types.empty()) binder.allow_parameters(types);
  Binder::ProcedureCall bound = binder.bind_procedure_call(*statement.funccall);
  // The values were converted to the parameters' types as of Describe; these must not have changed.
  if (!std::ranges::equal(binder.parameter_types(), types) || types.size() > parameters.size()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "the procedure's parameters have changed since the statement was prepared"};
  }
  session.rights.require_execute(*bound.call->callable->routine);
  Execution& execution = scratch->execution;
  execution.names = &session.names;
  execution.slots.resize(binder.slot_count());
  execution.transaction = session.transaction.get();
  execution.parameters = parameters;
  const RoutineCall& call = *bound.call;
  // The last parameter, if VARIADIC, may have several arguments.
  const std::span<const RoutineParameter> parameters_of = call.callable->routine->parameters;
  std::vector<Value> arguments;
  for (const ExprPtr& argument : bound.arguments) {
    const RoutineParameter& parameter =
        parameters_of[std::min(arguments.size(), parameters_of.size() - 1)];
    // An OUT argument only serves to resolve the routine: do not compute it.
    arguments.push_back(parameter.is_input() ? argument->eval(execution) : Value::null());
  }
  std::vector<Value> answer(call.column_types.size());
  run_routine(session, call, arguments, [&](std::span<const Value> row) {
    for (std::size_t i = 0; i < answer.size() && i < row.size(); ++i) {
      answer[i] = row[i].copy_to(execution.row_arena);
    }
    return false;
  });
  if (!answer.empty()) {
    const std::vector<OutputTarget> targets = targets_of(call);
    const std::span<const Format> formats =
        session.bound_formats ? *session.bound_formats : std::span<const Format>{};
    const std::vector<OutputColumn> columns = output_columns(targets, formats);
    if (!session.bound_formats) sink.row_description(columns);
    sink.data_row(ValuesRow{execution.functions, columns, call.column_types, answer});
  }
}

}  // namespace swizzle::sql
