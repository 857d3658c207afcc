#include <fmt/format.h>

#include "sql-lite-frontend/session/state/session_state.h"

/// Prepared statements of PREPARE and EXECUTE.
namespace swizzle::sql {
namespace {

constexpr SqlState kWrongArguments{"42601"};

}  // namespace

StatementPtr Session::State::prepared_by(const ast::ExecuteStmt& execute) {
  const auto found = statements.find(execute.name);
  if (found == statements.end()) {
    throw_error(sqlstate::invalid_sql_statement_name, "prepared statement \"{}\" does not exist",
                execute.name);
  }
  const StatementPtr statement = found->second;
  plans.analyze(*statement);
  const std::size_t expected = statement->parameter_types.size();
  if (execute.params.size() != expected) {
    throw sql_error(kWrongArguments, "wrong number of parameters for prepared statement \"{}\"",
                    execute.name)
        .with_detail(
            fmt::format("Expected {} parameters but got {}.", expected, execute.params.size()));
  }
  return statement;
}

PortalPtr Session::State::portal_of(const ast::ExecuteStmt& execute) {
  const StatementPtr statement = prepared_by(execute);
  const std::unique_ptr<Scratch> scratch = new_scratch();
  Binder binder{names, scratch->arena};
  std::vector<Value> values;
  Scope scope;
  scope.clause = Clause::execute_argument;
  std::vector<ExprPtr> arguments;
  for (std::size_t i = 0; i < execute.params.size(); ++i) {
    arguments.push_back(binder.coerce(binder.bind_expression(execute.params[i], scope),
                                      statement->parameter_types[i], kNoTypmod,
                                      Binder::Implicitness::assignment));
  }
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = transaction.get();
  for (const ExprPtr& argument : arguments) values.push_back(argument->eval(scratch->execution));
  return portals.make(statement, values);
}

}  // namespace swizzle::sql
