#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/call.h"
#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/routines/plpgsql/results.h"
#include "sql-lite-frontend/routines/plpgsql/statement_run.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

/// Runs SQL statements, and loops over their rows.
namespace swizzle::sql::plpgsql {
namespace {

constexpr SqlState kNoDataFound{"P0002"};
constexpr SqlState kTooManyRows{"P0003"};

/// Text "parameters: a = '1', b = NULL", for #print_strict_params; empty without that option.
class StrictParameters {
 public:
  explicit StrictParameters(Frame& frame) : frame_(frame) {}
  void add(std::string_view name, const Value& value, TypeId type) {
    list_ += list_.empty() ? "parameters: " : ", ";
    list_ += name;
    list_ += " = ";
    list_ +=
        value.is_null() ? "NULL" : quote_literal(to_text(frame_.execution.functions, type, value));
  }
  /// Adds the variables that the statement names, in the order of their declarations.
  void add_variables(const FragmentNames& names) {
    for (const Variable& variable : frame_.program.variables) {
      const bool is_named = std::ranges::find(names.used(), variable.place) != names.used().end();
      if (variable.kind != Variable::Kind::scalar || !is_named) continue;
      add(variable.name, frame_.values[variable.place], variable.type);
    }
  }
  [[nodiscard]] SqlError in(SqlError error) const {
    return list_.empty() ? std::move(error) : std::move(error).with_detail(list_);
  }

 private:
  Frame& frame_;
  std::string list_;
};

template <class Tell>
SqlError with_parameters(Frame& frame, bool is_strict, const Tell& tell, SqlError error) {
  if (!is_strict || !frame.program.tells_strict_parameters) return error;
  StrictParameters parameters{frame};
  tell(parameters);
  return parameters.in(std::move(error));
}

struct Into {
  const Targets& targets;
  bool is_strict = false;
  bool is_text = false;  ///< EXECUTE: INTO accepts several rows of a write
};

/// Reads the first row and throws if the number of rows is wrong. `tell` adds the parameters to an
/// error of INTO STRICT.
template <class Run, class Tell>
void take_into(Frame& frame, Run& run, const Into& into, const Tell& tell) {
  const bool is_strict = into.is_strict;
  const bool must_be_one = is_strict || (run.writes() && !into.is_text);
  const ShapePtr shape = run.shape();
  const bool has_row = run.next();
  if (has_row) {
    frame.assign_row(into.targets, shape, run.row());
    if (must_be_one && run.next()) {
      SqlError error = with_parameters(frame, is_strict, tell,
                                       SqlError{kTooManyRows, "query returned more than one row"});
      if (into.is_text) throw std::move(error);
      throw std::move(error).with_hint("Make sure the query returns a single row, or use LIMIT 1.");
    }
  } else {
    if (is_strict) {
      throw with_parameters(frame, is_strict, tell,
                            SqlError{kNoDataFound, "query returned no rows"});
    }
    frame.assign_nothing(into.targets, shape);
  }
  frame.row_count = has_row ? 1 : 0;
}

void refuse_without_destination(const ast::Node* node) {
  if (ast::is<ast::SelectStmt>(node)) {
    throw SqlError{sqlstate::syntax_error, "query has no destination for result data"}.with_hint(
        "If you want to discard the results of a SELECT, use PERFORM instead.");
  }
  throw SqlError{sqlstate::syntax_error, "query has no destination for result data"};
}

}  // namespace

namespace {

/// True if the transaction may end here: not within a block with an exception handler, which is a
/// part of it.
bool may_end_within(const StatementContext& session) {
  return session.transaction.may_end && session.transaction.guarded_blocks == 0;
}

/// Runs a DO inside a body: it may end the transaction if the outer body may.
void run_do(Frame& frame, const Statement& running, const std::string& context) {
  const StatementPlace place{context};
  const AtPlace at{frame.session, place};
  const TransactionControl control{frame.session.transaction, may_end_within(frame.session)};
  try {
    run_inline_code(frame.session, ast::as<ast::DoStmt>(running.node), running);
  } catch (SqlError& error) {
    add_sql_context(error, context);
    throw;
  }
  frame.follow_transaction();
}

}  // namespace

Flow SqlStep::run(Frame& frame) {
  const StatementPtr running = statement->statement(frame);
  if (ast::is<ast::DoStmt>(running->node)) {
    run_do(frame, *running, statement->context());
    frame.row_count = 0;
    return Flow::next;
  }
  if (!is_plannable(running->node)) {
    const bool has_rows = returns_rows_without_plan(running->node);
    if (has_into && has_rows) {
      UtilityRun run{frame, running, statement->context()};
      take_into(frame, run, {into, is_strict}, [](StrictParameters&) {});
      frame.set_found(frame.row_count > 0);
      return Flow::next;
    }
    if (has_into) {
      throw SqlError{sqlstate::syntax_error, "INTO used with a command that cannot return data"};
    }
    if (has_rows) refuse_without_destination(running->node);
    frame.row_count = run_without_plan(frame, running, statement->context());
    return Flow::next;
  }
  const RowScope scope{frame.execution};
  StatementRun run{frame, *statement, running};
  const Plan& plan = run.plan();
  if (has_into) {
    if (!plan.returns_rows) {
      throw SqlError{sqlstate::syntax_error, "INTO used with a command that cannot return data"};
    }
    take_into(frame, run, {into, is_strict},
              [&](StrictParameters& parameters) { parameters.add_variables(statement->names()); });
    if (plan.write != nullptr) run.finish();
    frame.set_found(frame.row_count > 0);
    if (plan.write == nullptr) run.finish();
    return Flow::next;
  }
  if (!is_perform && plan.returns_rows) refuse_without_destination(running->node);
  while (run.next()) {
  }
  frame.row_count = static_cast<std::int64_t>(run.count());
  run.finish();
  frame.set_found(frame.row_count > 0);
  return Flow::next;
}

Flow ExecuteStep::run(Frame& frame) {
  DynamicStatement dynamic{frame, *text, using_values};
  const RowScope scope{frame.execution};
  frame.row_count = 0;
  if (has_into && dynamic.statements.empty()) {
    throw SqlError{sqlstate::syntax_error, "INTO used with a command that cannot return data"};
  }
  for (const StatementPtr& each : dynamic.statements) {
    if (!is_plannable(each->node)) {
      if (has_into && returns_rows_without_plan(each->node)) {
        UtilityRun run{frame, each, dynamic.context(), &dynamic.values};
        take_into(frame, run, {into, is_strict, true}, [](StrictParameters&) {});
        continue;
      }
      if (has_into) {
        throw SqlError{sqlstate::syntax_error, "INTO used with a command that cannot return data"};
      }
      frame.row_count = run_without_plan(frame, each, dynamic.context());
      continue;
    }
    StatementRun run{frame, each, dynamic.context(), dynamic.values};
    if (has_into) {
      if (!run.plan().returns_rows) {
        throw SqlError{sqlstate::syntax_error, "INTO used with a command that cannot return data"};
      }
      take_into(frame, run, {into, is_strict, true}, [&](StrictParameters& parameters) {
        for (std::size_t i = 0; i < dynamic.values.size(); ++i) {
          parameters.add(fmt::format("${}", i + 1), dynamic.values[i], dynamic.types[i]);
        }
      });
    } else {
      while (run.next()) {
      }
      frame.row_count = static_cast<std::int64_t>(run.count());
    }
    run.finish();
  }
  return Flow::next;
}

namespace {

template <class Run>
Flow loop_over(Frame& frame, ForQueryStep& loop, Run& run) {
  const ShapePtr shape = run.shape();
  bool found = false;
  Flow flow = Flow::next;
  while (run.next()) {
    found = true;
    frame.execution.tick();
    {
      const RowScope scope{frame.execution};
      frame.assign_row(loop.targets, shape, run.row());
    }
    flow = frame.run_steps(loop.steps);
    if (flow == Flow::next) continue;
    const bool is_meant = frame.label.empty() || frame.label == loop.label;
    if (flow == Flow::returned || !is_meant) break;
    frame.label.clear();
    const bool goes_on = flow == Flow::continue_loop;
    flow = Flow::next;
    if (!goes_on) break;
  }
  // As in PostgreSQL, a loop without iterations sets its variables to NULL.
  if (!found) frame.assign_nothing(loop.targets, shape);
  run.finish();
  frame.set_found(found);
  return flow;
}

}  // namespace

Flow ForQueryStep::run(Frame& frame) {
  using Reads = StatementRun::Reads;
  if (text) {
    DynamicStatement dynamic{frame, *text, using_values};
    const StatementPtr& running = dynamic.query("cursor");
    if (!is_plannable(running->node)) {
      UtilityRun run{frame, running, dynamic.context(), &dynamic.values};
      return loop_over(frame, *this, run);
    }
    StatementRun run{frame, running, dynamic.context(), dynamic.values, Reads::in_parts};
    return loop_over(frame, *this, run);
  }
  const StatementPtr running = query->statement(frame);
  if (returns_rows_without_plan(running->node)) {
    UtilityRun run{frame, running, query->context()};
    return loop_over(frame, *this, run);
  }
  if (!is_plannable(running->node)) {
    throw_error(SqlState{"42P11"}, "cannot open {} query as cursor", statement_name(running->node));
  }
  StatementRun run{frame, *query, running, Reads::in_parts};
  if (!run.plan().returns_rows) {
    throw_error(SqlState{"42P11"}, "cannot open {} query as cursor", statement_name(running->node));
  }
  return loop_over(frame, *this, run);
}

namespace {

void require_rows(const StatementRun& run) {
  if (run.plan().returns_rows) return;
  throw SqlError{sqlstate::syntax_error, "query does not return rows"};
}

template <class Run>
void return_rows(Frame& frame, Run& run) {
  const ShapePtr shape = run.shape();
  const ResultColumns columns{frame};
  try {
    columns.require(*shape, "structure of query does not match function result type");
  } catch (SqlError& error) {
    add_context(error, run.context());
    throw;
  }
  std::int64_t count = 0;
  while (run.next()) {
    ++count;
    columns.give(*shape, run.row());
  }
  run.finish();
  frame.row_count = count;
  frame.set_found(count > 0);
}

}  // namespace

Flow ReturnQueryStep::run(Frame& frame) {
  const RowScope scope{frame.execution};
  if (text) {
    DynamicStatement dynamic{frame, *text, using_values};
    if (dynamic.statements.empty()) {
      throw SqlError{sqlstate::syntax_error, "empty query does not return tuples"};
    }
    const StatementPtr& running = dynamic.query("cursor");
    if (!is_plannable(running->node)) {
      UtilityRun run{frame, running, dynamic.context(), &dynamic.values};
      return_rows(frame, run);
      return Flow::next;
    }
    StatementRun run{frame, running, dynamic.context(), dynamic.values};
    require_rows(run);
    return_rows(frame, run);
    return Flow::next;
  }
  const StatementPtr running = query->statement(frame);
  if (returns_rows_without_plan(running->node)) {
    UtilityRun run{frame, running, query->context()};
    return_rows(frame, run);
    return Flow::next;
  }
  if (!is_plannable(running->node)) {
    throw SqlError{sqlstate::syntax_error, "query does not return rows"};
  }
  StatementRun run{frame, *query, running};
  require_rows(run);
  return_rows(frame, run);
  return Flow::next;
}

Flow ReturnNextStep::run(Frame& frame) {
  const RowScope scope{frame.execution};
  if (!value) {
    std::vector<Value> row;
    for (const std::size_t output : frame.program.outputs) row.push_back(frame.value_of(output));
    static_cast<void>((*frame.take)(row));
    return Flow::next;
  }
  const Value given = value->evaluate(frame);
  const ShapePtr shape = value->record_shape(frame);
  give_value(frame, given, {value->type(), shape},
             shape ? "wrong record type supplied in RETURN NEXT"
                   : "returned record type does not match expected record type");
  return Flow::next;
}

Flow ReturnStep::run(Frame& frame) {
  frame.returned_record.reset();
  if (record && !frame.records[*record].shape) {
    // Elsewhere, reading an unassigned record is an error.
    frame.set_result(Value::null(), TypeId::record);
  } else if (value) {
    if (frame.is_trigger) frame.returned_record = value->whole_record(frame);
    if (frame.returned_record) return Flow::returned;
    const RowScope scope{frame.execution};
    const Value returned = value->evaluate(frame);
    frame.set_result(returned, value->type(), value->record_shape(frame));
  }
  return Flow::returned;
}

Flow CallStep::run(Frame& frame) {
  StatementContext& session = frame.session;
  const StatementPtr running = statement->statement(frame);
  const auto* call = ast::try_as<ast::CallStmt>(running->node);
  if (call == nullptr) throw SqlError{sqlstate::syntax_error, "syntax error"};
  Arena arena;
  std::vector<std::pair<std::size_t, std::size_t>> outputs;
  std::vector<Value> arguments;
  Binder::ProcedureCall bound;
  const RowScope scope{frame.execution};
  std::vector<Value> answer;
  try {
    BodyNames names;
    names.routine = std::make_shared<Routine>(frame.routine);
    names.parameters.resize(frame.program.argument_count);
    names.variables = &statement->names();
    std::vector<TypeId> types;
    for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
      types.push_back(frame.program.variables[i].type_within());
    }
    Binder binder{session.names, arena};
    binder.allow_parameters(types);
    binder.enter_body(names);
    bound = binder.bind_procedure_call(*call->funccall);
    const Routine& routine = *bound.call->callable->routine;
    session.rights.require_execute(routine);
    std::size_t column = 0;
    for (std::size_t i = 0; i < routine.parameters.size() && i < bound.arguments.size(); ++i) {
      const RoutineParameter& parameter = routine.parameters[i];
      if (!parameter.is_output()) continue;
      // Skips the cast to the parameter's type.
      const Expr* argument = bound.arguments[i].get();
      while (const auto* cast = dynamic_cast<const CastExpr*>(argument))
        argument = &cast->operand();
      const auto* variable = dynamic_cast<const ParameterExpr*>(argument);
      if (variable == nullptr) {
        throw sql_error(
            sqlstate::syntax_error,
            "procedure parameter \"{}\" is an output parameter but corresponding argument "
            "is not writable",
            parameter.name.empty() ? std::to_string(i + 1) : parameter.name)
            .at_position(1);
      }
      outputs.emplace_back(variable->index(), column++);
    }
    Execution execution{session, session.session_context};
    execution.names = &session.names;
    execution.slots.resize(binder.slot_count());
    execution.transaction = session.transaction.get();
    frame.make_room();
    execution.parameters = frame.values;
    for (const ExprPtr& argument : bound.arguments) {
      arguments.push_back(argument->eval(execution).copy_to(frame.execution.row_arena));
    }
    answer.resize(bound.call->column_types.size());
    const std::string context = statement->context();
    const StatementPlace place{context};
    const AtPlace at{session, place};
    const TransactionControl control{session.transaction, may_end_within(session)};
    run_routine(session, *bound.call, arguments, [&](std::span<const Value> row) {
      for (std::size_t i = 0; i < answer.size() && i < row.size(); ++i) {
        answer[i] = row[i].copy_to(frame.execution.row_arena);
      }
      return false;
    });
  } catch (SqlError& error) {
    add_sql_context(error, statement->context());
    throw;
  }
  frame.follow_transaction();
  for (const auto& [place, column] : outputs) {
    assign_place(frame, place, answer[column], bound.call->column_types[column]);
  }
  return Flow::next;
}

}  // namespace swizzle::sql::plpgsql
