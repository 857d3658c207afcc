#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/ddl/grant.h"
#include "sql-lite-frontend/ddl/owned.h"
#include "sql-lite-frontend/ddl/reindex.h"
#include "sql-lite-frontend/ddl/user_types.h"
#include "sql-lite-frontend/routines/definition.h"
#include "sql-lite-frontend/session/inner_transactions.h"
#include "sql-lite-frontend/session/refusals.h"
#include "sql-lite-frontend/session/row_view.h"
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/session/statement_options.h"
#include "sql-lite-frontend/triggers/definition.h"
#include "sql-lite-frontend/types/time_zone.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kWrongArguments{"42601"};

}  // namespace

void Session::State::prepare_statement(const ast::PrepareStmt& prepare, const Statement& whole,
                                       ResultSink& sink) {
  if (statements.contains(prepare.name)) {
    throw_error(sqlstate::duplicate_prepared_statement, "prepared statement \"{}\" already exists",
                prepare.name);
  }
  // The tree is the script's: parse again so that the statement owns its own.
  StatementPtr statement = std::make_shared<Statement>();
  statement->node = ast::as<ast::PrepareStmt>(parse_again(*statement, whole)).query;
  Arena arena;
  Binder binder{*this, arena};
  for (const ast::Node* type : prepare.argtypes) {
    statement->declared_types.push_back(binder.bind_type(ast::as<ast::TypeName>(type)).type);
  }
  if (!is_plannable(statement->node)) {
    throw_error(sqlstate::feature_not_supported, "PREPARE of {} is not supported",
                statement_name(statement->node));
  }
  statement->from_sql = true;
  statement->prepared_at = session_context.statement_timestamp;
  analyze(*statement);
  statements[std::string{prepare.name}] = std::move(statement);
  sink.command_complete("PREPARE");
}

StatementPtr Session::State::prepared_by(const ast::ExecuteStmt& execute) {
  const auto found = statements.find(execute.name);
  if (found == statements.end()) {
    throw_error(sqlstate::invalid_sql_statement_name, "prepared statement \"{}\" does not exist",
                execute.name);
  }
  const StatementPtr statement = found->second;
  analyze(*statement);
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
  Binder binder{*this, scratch->arena};
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
  return make_portal(statement, values);
}

void Session::State::execute_statement(const ast::ExecuteStmt& execute, ResultSink& sink) {
  if (const StatementPtr prepared = prepared_by(execute); !is_plannable(prepared->node)) {
    return execute_utility(*prepared, sink);
  }
  const PortalPtr portal = portal_of(execute);
  // In the extended protocol Describe has told the columns already.
  if (bound_formats) portal->formats.assign(bound_formats->begin(), bound_formats->end());
  describe_columns(*portal, sink);
  run_portal(*portal, 0, sink);
}

/// What Parse prepares need not have a plan, nor be a statement at all.
void Session::State::execute_utility(Statement& prepared, ResultSink& sink) {
  if (prepared.node == nullptr) return sink.command_complete("EXECUTE");
  if (const auto* control = ast::try_as<ast::TransactionStmt>(prepared.node)) {
    return transaction_statement(*control, sink);
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
  } const depth{executes_running};
  run_utility(prepared.node, prepared, {}, sink);
}

void Session::State::discard(const ast::DiscardStmt& statement, ResultSink& sink) {
  switch (statement.target) {
    case ast::DiscardMode::all:
      prevent_in_block("DISCARD ALL");
      drop_portals();
      settings.reset_all();
      settings_changed(&sink);
      pending.resolve(PendingNotifications::Resolution::unlisten_all, {});
      shared.advisory_locks.unlock_all(options.backend_pid, AdvisoryScope::session);
      statements.clear();
      text_cache.clear();
      parsed_texts.clear();
      drop_owned_temporaries();
      sequence_values.clear();
      last_sequence.reset();
      sink.command_complete("DISCARD ALL");
      return;
    case ast::DiscardMode::plans:
      text_cache.clear();
      parsed_texts.clear();
      sink.command_complete("DISCARD PLANS");
      return;
    case ast::DiscardMode::sequences:
      sequence_values.clear();
      last_sequence.reset();
      sink.command_complete("DISCARD SEQUENCES");
      return;
    default:
      drop_owned_temporaries();
      sink.command_complete("DISCARD TEMP");
      return;
  }
}

void Session::State::run_utility(const ast::Node* node, Statement& statement,
                                 std::span<const Value> parameters, ResultSink& sink) {
  using Kind = ast::NodeKind;
  const auto definition = [&](std::string_view command) {
    require_read_write(command);
    begin_statement();
  };
  switch (node->node_kind) {
    case Kind::variable_set_stmt:
      return set_variable(ast::as<ast::VariableSetStmt>(node), sink);
    case Kind::variable_show_stmt:
      return show_variable(ast::as<ast::VariableShowStmt>(node), sink);
    case Kind::prepare_stmt:
      return prepare_statement(ast::as<ast::PrepareStmt>(node), statement, sink);
    case Kind::execute_stmt:
      return execute_statement(ast::as<ast::ExecuteStmt>(node), sink);
    case Kind::deallocate_stmt: {
      const auto& deallocate = ast::as<ast::DeallocateStmt>(node);
      if (deallocate.name.empty()) {
        statements.clear();
        sink.command_complete("DEALLOCATE ALL");
      } else {
        const auto found = statements.find(deallocate.name);
        if (found == statements.end()) {
          throw_error(sqlstate::invalid_sql_statement_name,
                      "prepared statement \"{}\" does not exist", deallocate.name);
        }
        statements.erase(found);
        sink.command_complete("DEALLOCATE");
      }
      return;
    }
    case Kind::create_extension_stmt: {
      const auto& extension = ast::as<ast::CreateExtensionStmt>(node);
      if (extension.extname != "plpgsql") {
        throw_error(sqlstate::feature_not_supported, "extension \"{}\" is not supported",
                    extension.extname);
      }
      // PostgreSQL has it from the start, and scripts ask for it whether they use it or not.
      if (!extension.if_not_exists) {
        throw_error(sqlstate::duplicate_object, "extension \"plpgsql\" already exists");
      }
      notice(sink, Severity::notice, sqlstate::duplicate_object,
             R"(extension "plpgsql" already exists, skipping)");
      sink.command_complete("CREATE EXTENSION");
      return;
    }
    case Kind::discard_stmt:
      return discard(ast::as<ast::DiscardStmt>(node), sink);
    case Kind::explain_stmt:
      return explain(ast::as<ast::ExplainStmt>(node), statement, parameters, sink);
    case Kind::declare_cursor_stmt:
      return declare_cursor(ast::as<ast::DeclareCursorStmt>(node), sink, parameters, statement);
    case Kind::fetch_stmt:
      return fetch(ast::as<ast::FetchStmt>(node), sink);
    case Kind::close_portal_stmt:
      return close_cursor(ast::as<ast::ClosePortalStmt>(node), sink);
    case Kind::copy_stmt:
      return copy(ast::as<ast::CopyStmt>(node), sink);
    case Kind::constraints_set_stmt:
      return set_constraints(ast::as<ast::ConstraintsSetStmt>(node), sink);
    case Kind::vacuum_stmt:
      return vacuum(ast::as<ast::VacuumStmt>(node), sink);
    case Kind::cluster_stmt: {
      for (const ast::Node* option : ast::as<ast::ClusterStmt>(node).params) {
        const auto& known = ast::as<ast::DefElem>(option);
        if (known.defname != "verbose") refuse_option("CLUSTER", known);
      }
      refuse_statement(*node);
    }
    case Kind::check_point_stmt:
      if (!owns(kCheckpointRole)) {
        throw SqlError{sqlstate::insufficient_privilege,
                       "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"};
      }
      value_of(shared.engine.checkpoint());
      sink.command_complete("CHECKPOINT");
      return;
    case Kind::lock_stmt:
      return lock_table(ast::as<ast::LockStmt>(node), sink);
    case Kind::listen_stmt:
    case Kind::unlisten_stmt:
      return resolve_to_listen(*node, sink);
    case Kind::notify_stmt: {
      const auto& said = ast::as<ast::NotifyStmt>(node);
      notify(said.conditionname, said.payload);
      sink.command_complete("NOTIFY");
      return;
    }
    case Kind::create_stmt:
      definition("CREATE TABLE");
      return create_table(ast::as<ast::CreateStmt>(node), sink);
    case Kind::create_table_as_stmt:
      definition("CREATE TABLE AS");
      return create_table_as(ast::as<ast::CreateTableAsStmt>(node), sink, statement);
    case Kind::index_stmt:
      definition("CREATE INDEX");
      return create_index(ast::as<ast::IndexStmt>(node), sink);
    case Kind::view_stmt:
      definition("CREATE VIEW");
      return create_view(ast::as<ast::ViewStmt>(node), statement, sink);
    case Kind::create_seq_stmt:
      definition("CREATE SEQUENCE");
      return create_sequence(ast::as<ast::CreateSeqStmt>(node), sink);
    case Kind::alter_seq_stmt:
      definition("ALTER SEQUENCE");
      return alter_sequence(ast::as<ast::AlterSeqStmt>(node), sink);
    case Kind::create_schema_stmt:
      definition("CREATE SCHEMA");
      return create_schema(ast::as<ast::CreateSchemaStmt>(node), sink);
    case Kind::create_enum_stmt:
      definition("CREATE TYPE");
      return create_enum(*this, ast::as<ast::CreateEnumStmt>(node), sink);
    case Kind::composite_type_stmt:
      definition("CREATE TYPE");
      return create_composite(*this, ast::as<ast::CompositeTypeStmt>(node), sink);
    case Kind::create_domain_stmt:
      definition("CREATE DOMAIN");
      return create_domain(*this, ast::as<ast::CreateDomainStmt>(node), sink);
    case Kind::alter_domain_stmt:
      definition("ALTER DOMAIN");
      return alter_domain(*this, ast::as<ast::AlterDomainStmt>(node), sink);
    case Kind::alter_enum_stmt:
      definition("ALTER TYPE");
      return alter_enum(*this, ast::as<ast::AlterEnumStmt>(node), sink);
    case Kind::create_function_stmt: {
      const auto& made = ast::as<ast::CreateFunctionStmt>(node);
      definition(made.is_procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION");
      return create_routine(*this, made, statement, sink);
    }
    case Kind::create_trig_stmt:
      definition("CREATE TRIGGER");
      return create_trigger(*this, ast::as<ast::CreateTrigStmt>(node), sink);
    case Kind::alter_function_stmt:
      definition("ALTER FUNCTION");
      return alter_routine(*this, ast::as<ast::AlterFunctionStmt>(node), sink);
    case Kind::do_stmt: {
      begin_statement();
      const TransactionControl control{*this, !in_block()};
      return run_inline_code(*this, ast::as<ast::DoStmt>(node), statement, sink);
    }
    case Kind::call_stmt: {
      begin_statement();
      const TransactionControl control{*this, !in_block()};
      return call_procedure(*this, ast::as<ast::CallStmt>(node), statement.parameter_types,
                            parameters, sink);
    }
    case Kind::drop_stmt: {
      const auto& dropped = ast::as<ast::DropStmt>(node);
      definition(fmt::format("DROP {}", object_type_name(dropped.remove_type)));
      return drop(dropped, sink);
    }
    case Kind::drop_owned_stmt:
      definition("DROP OWNED");
      return drop_owned(*this, ast::as<ast::DropOwnedStmt>(node), sink);
    case Kind::reassign_owned_stmt:
      definition("REASSIGN OWNED");
      return reassign_owned(*this, ast::as<ast::ReassignOwnedStmt>(node), sink);
    case Kind::truncate_stmt:
      definition("TRUNCATE TABLE");
      return truncate(ast::as<ast::TruncateStmt>(node), sink);
    case Kind::refresh_mat_view_stmt:
      definition("REFRESH MATERIALIZED VIEW");
      return refresh(ast::as<ast::RefreshMatViewStmt>(node), sink);
    case Kind::alter_table_stmt:
      definition("ALTER TABLE");
      if (const auto& altered = ast::as<ast::AlterTableStmt>(node);
          altered.objtype == ast::ObjectType::type) {
        return alter_composite(*this, altered, sink);
      }
      return alter_table(ast::as<ast::AlterTableStmt>(node), sink);
    case Kind::rename_stmt:
      definition("ALTER");
      return rename(ast::as<ast::RenameStmt>(node), sink);
    case Kind::alter_owner_stmt:
      definition("ALTER");
      return set_owner(ast::as<ast::AlterOwnerStmt>(node), sink);
    case Kind::alter_object_schema_stmt:
      definition("ALTER");
      return set_schema(ast::as<ast::AlterObjectSchemaStmt>(node), sink);
    case Kind::createdb_stmt:
      definition("CREATE DATABASE");
      return create_database(ast::as<ast::CreatedbStmt>(node), sink);
    case Kind::dropdb_stmt:
      definition("DROP DATABASE");
      return drop_database(ast::as<ast::DropdbStmt>(node), sink);
    case Kind::alter_database_stmt:
      definition("ALTER DATABASE");
      return alter_database(ast::as<ast::AlterDatabaseStmt>(node), sink);
    case Kind::reindex_stmt:
      definition("REINDEX");
      return reindex(*this, ast::as<ast::ReindexStmt>(node), sink);
    case Kind::grant_stmt: {
      const auto& change = ast::as<ast::GrantStmt>(node);
      definition(change.is_grant ? "GRANT" : "REVOKE");
      return grant(change, sink);
    }
    case Kind::alter_default_privileges_stmt:
      definition("ALTER DEFAULT PRIVILEGES");
      return alter_default_privileges(*this, ast::as<ast::AlterDefaultPrivilegesStmt>(node), sink);
    case Kind::grant_role_stmt: {
      const auto& change = ast::as<ast::GrantRoleStmt>(node);
      definition(change.is_grant ? "GRANT ROLE" : "REVOKE ROLE");
      return grant_role(change, sink);
    }
    case Kind::comment_stmt:
      definition("COMMENT");
      return comment(ast::as<ast::CommentStmt>(node), sink);
    case Kind::create_role_stmt:
      definition("CREATE ROLE");
      return create_role(ast::as<ast::CreateRoleStmt>(node), sink);
    case Kind::alter_role_stmt:
      definition("ALTER ROLE");
      return alter_role(ast::as<ast::AlterRoleStmt>(node), sink);
    case Kind::drop_role_stmt:
      definition("DROP ROLE");
      return drop_role(ast::as<ast::DropRoleStmt>(node), sink);
    case Kind::alter_role_set_stmt:
      definition("ALTER ROLE");
      return alter_role_settings(ast::as<ast::AlterRoleSetStmt>(node), sink);
    case Kind::alter_database_set_stmt:
      definition("ALTER DATABASE");
      return alter_database_settings(ast::as<ast::AlterDatabaseSetStmt>(node), sink);
    case Kind::alter_system_stmt:
      return alter_system(ast::as<ast::AlterSystemStmt>(node), sink);
    default:
      refuse_statement(*node);
  }
}

}  // namespace swizzle::sql
