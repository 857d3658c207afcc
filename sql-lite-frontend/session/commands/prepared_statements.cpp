#include "sql-lite-frontend/session/commands/statements.h"

/// PREPARE, EXECUTE and DEALLOCATE.
namespace swizzle::sql {
namespace {

/// Runs a statement from Parse that has no plan, or is no statement at all.
void execute_utility(Session::State& session, Statement& prepared, ResultSink& sink) {
  if (prepared.node == nullptr) return sink.command_complete("EXECUTE");
  if (const auto* control = ast::try_as<ast::TransactionStmt>(prepared.node)) {
    return session.transaction.run(*control, sink);
  }
  // A statement may execute itself by its name.
  constexpr int kDeepest = 64;
  struct Depth {
    explicit Depth(int& depth) : depth_(depth) {
      if (++depth_ <= kDeepest) return;
      --depth_;
      throw SqlError{sqlstate::statement_too_complex, "EXECUTE is nested too deeply"};
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --depth_; }
    int& depth_;
  } const depth{session.executes_running};
  session.run_utility(prepared.node, prepared, {}, sink);
}

}  // namespace

void prepare_statement(Session::State& session, const ast::PrepareStmt& prepare,
                       const Statement& whole) {
  if (session.statements.contains(prepare.name)) {
    throw_error(sqlstate::duplicate_prepared_statement, "prepared statement \"{}\" already exists",
                prepare.name);
  }
  // The tree is the script's: parse again so that the statement owns its own.
  StatementPtr statement = std::make_shared<Statement>();
  statement->node = ast::as<ast::PrepareStmt>(parse_again(session.memory, *statement, whole)).query;
  Arena arena;
  Binder binder{session.names, arena};
  for (const ast::Node* type : prepare.argtypes) {
    statement->declared_types.push_back(binder.bind_type(ast::as<ast::TypeName>(type)).type);
  }
  if (!is_plannable(statement->node)) {
    throw_error(sqlstate::feature_not_supported, "PREPARE of {} is not supported",
                statement_name(statement->node));
  }
  statement->from_sql = true;
  statement->prepared_at = session.session_context.statement_timestamp;
  with_places_in(whole, [&] { session.plans.analyze(*statement); });
  statement->count_as_kept(session.memory);
  session.statements[std::string{prepare.name}] = std::move(statement);
}

void deallocate_statement(Session::State& session, const ast::DeallocateStmt& statement) {
  if (statement.name.empty()) return session.statements.clear();
  const auto found = session.statements.find(statement.name);
  if (found == session.statements.end()) {
    throw_error(sqlstate::invalid_sql_statement_name, "prepared statement \"{}\" does not exist",
                statement.name);
  }
  session.statements.erase(found);
}

void execute_statement(Session::State& session, const ast::ExecuteStmt& execute, ResultSink& sink) {
  if (const StatementPtr prepared = session.prepared_by(execute); !is_plannable(prepared->node)) {
    return execute_utility(session, *prepared, sink);
  }
  const PortalPtr portal = session.portal_of(execute);
  // In the extended protocol Describe has sent the columns already.
  if (session.bound_formats)
    portal->formats.assign(session.bound_formats->begin(), session.bound_formats->end());
  session.portals.describe_columns(*portal, sink);
  session.portals.run(*portal, 0, sink);
}

}  // namespace swizzle::sql
