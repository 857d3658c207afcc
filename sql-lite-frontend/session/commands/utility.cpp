
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/indexes/reindex.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/grant.h"
#include "sql-lite-frontend/definitions/rights/owned.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/call.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/refusals.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"

namespace swizzle::sql {
namespace {

/// One attempt at a definition, repeated when other definitions change under it.
struct Attempt {
  std::optional<SessionTransaction::Savepoint> start;
  CatalogView::Resolution resolution;

  void begin(Session::State& session) {
    start = session.transaction.mark();
    resolution.begin(session.catalog, *session.transaction);
  }
};

/// Those that leave something behind in the session.
void refuse_where_restricted(const Session::State& session, const ast::Node& node) {
  using Kind = ast::NodeKind;
  const auto refuse = [&](std::string_view command) {
    require_unrestricted(session, fmt::format("execute {}", command));
  };
  switch (node.node_kind) {
    case Kind::prepare_stmt:
      return refuse("PREPARE");
    case Kind::deallocate_stmt:
      return refuse("DEALLOCATE");
    case Kind::discard_stmt:
      return refuse("DISCARD");
    case Kind::close_portal_stmt:
      return refuse("CLOSE");
    case Kind::listen_stmt:
      return refuse("LISTEN");
    case Kind::unlisten_stmt:
      return refuse("UNLISTEN");
    default:
      return;
  }
}

/// Whether the statement counts as the first of a REPEATABLE READ transaction, as PostgreSQL's
/// PlannedStmtRequiresSnapshot() has it.
bool takes_snapshot(const ast::Node& node) noexcept {
  using Kind = ast::NodeKind;
  switch (node.node_kind) {
    case Kind::transaction_stmt:
    case Kind::lock_stmt:
    case Kind::variable_set_stmt:
    case Kind::variable_show_stmt:
    case Kind::constraints_set_stmt:
    case Kind::fetch_stmt:
    case Kind::listen_stmt:
    case Kind::notify_stmt:
    case Kind::unlisten_stmt:
    case Kind::check_point_stmt:
      return false;
    default:
      return true;
  }
}

void run_once(Session::State& session, const ast::Node* node, Statement& statement,
              std::span<const Value> parameters, ResultSink& sink, Attempt& attempt) {
  using Kind = ast::NodeKind;
  const auto definition = [&](std::string_view command) {
    session.transaction.require_read_write(command);
    session.transaction.begin_definition();
    attempt.begin(session);
  };
  refuse_where_restricted(session, *node);
  switch (ast::kind_of(node)) {
    case Kind::variable_set_stmt:
      return session.variables.set(ast::as<ast::VariableSetStmt>(node), sink);
    case Kind::variable_show_stmt:
      return session.variables.show(ast::as<ast::VariableShowStmt>(node), sink);
    case Kind::prepare_stmt:
      return prepare_statement(session, ast::as<ast::PrepareStmt>(node), statement, sink);
    case Kind::execute_stmt:
      return execute_statement(session, ast::as<ast::ExecuteStmt>(node), sink);
    case Kind::deallocate_stmt: {
      const auto& deallocate = ast::as<ast::DeallocateStmt>(node);
      if (deallocate.name.empty()) {
        session.statements.clear();
        sink.command_complete("DEALLOCATE ALL");
      } else {
        const auto found = session.statements.find(deallocate.name);
        if (found == session.statements.end()) {
          throw_error(sqlstate::invalid_sql_statement_name,
                      "prepared statement \"{}\" does not exist", deallocate.name);
        }
        session.statements.erase(found);
        sink.command_complete("DEALLOCATE");
      }
      return;
    }
    case Kind::create_extension_stmt:
      definition("CREATE EXTENSION");
      return create_extension(session, ast::as<ast::CreateExtensionStmt>(node), sink);
    case Kind::alter_extension_stmt:
      definition("ALTER EXTENSION");
      return alter_extension(session, ast::as<ast::AlterExtensionStmt>(node), sink);
    case Kind::create_publication_stmt:
      definition("CREATE PUBLICATION");
      return create_publication(session, ast::as<ast::CreatePublicationStmt>(node), sink);
    case Kind::alter_publication_stmt:
      definition("ALTER PUBLICATION");
      return alter_publication(session, ast::as<ast::AlterPublicationStmt>(node), sink);
    case Kind::define_stmt:
      definition("CREATE");
      return define_object(session, ast::as<ast::DefineStmt>(node), sink);
    case Kind::alter_collation_stmt:
      definition("ALTER COLLATION");
      return alter_collation(session, ast::as<ast::AlterCollationStmt>(node), sink);
    case Kind::alter_tsdictionary_stmt:
      definition("ALTER TEXT SEARCH DICTIONARY");
      return alter_text_dictionary(session, ast::as<ast::AlterTSDictionaryStmt>(node), sink);
    case Kind::alter_tsconfiguration_stmt:
      definition("ALTER TEXT SEARCH CONFIGURATION");
      return alter_text_config(session, ast::as<ast::AlterTSConfigurationStmt>(node), sink);
    case Kind::alter_operator_stmt:
      definition("ALTER OPERATOR");
      return alter_operator(session, ast::as<ast::AlterOperatorStmt>(node), sink);
    case Kind::create_cast_stmt:
      definition("CREATE CAST");
      return create_cast(session, ast::as<ast::CreateCastStmt>(node), sink);
    case Kind::discard_stmt:
      return discard_state(session, ast::as<ast::DiscardStmt>(node), sink);
    case Kind::explain_stmt:
      return explain_statement(session, ast::as<ast::ExplainStmt>(node), statement, parameters,
                               sink);
    case Kind::declare_cursor_stmt:
      return session.portals.declare(ast::as<ast::DeclareCursorStmt>(node), sink, parameters,
                                     statement);
    case Kind::fetch_stmt:
      return session.portals.fetch(ast::as<ast::FetchStmt>(node), sink);
    case Kind::close_portal_stmt:
      return session.portals.close(ast::as<ast::ClosePortalStmt>(node), sink);
    case Kind::copy_stmt:
      return copy_rows(session, ast::as<ast::CopyStmt>(node), sink);
    case Kind::constraints_set_stmt:
      return session.transaction.set_constraints(ast::as<ast::ConstraintsSetStmt>(node), sink);
    case Kind::vacuum_stmt:
      return vacuum_tables(session, ast::as<ast::VacuumStmt>(node), sink);
    case Kind::cluster_stmt: {
      for (const ast::Node* option : ast::as<ast::ClusterStmt>(node).params) {
        const auto& known = ast::as<ast::DefElem>(option);
        if (known.defname != "verbose") refuse_option("CLUSTER", known);
      }
      refuse_statement(*node);
    }
    case Kind::check_point_stmt:
      if (!session.rights.owns(kCheckpointRole)) {
        throw SqlError{sqlstate::insufficient_privilege,
                       "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"};
      }
      value_of(session.shared.engine.checkpoint());
      sink.command_complete("CHECKPOINT");
      return;
    case Kind::lock_stmt:
      return lock_table(session, ast::as<ast::LockStmt>(node), sink);
    case Kind::listen_stmt:
    case Kind::unlisten_stmt:
      return session.notifications.resolve(*node, sink);
    case Kind::notify_stmt: {
      const auto& said = ast::as<ast::NotifyStmt>(node);
      session.notifications.notify(said.conditionname, said.payload);
      sink.command_complete("NOTIFY");
      return;
    }
    case Kind::create_stmt:
      definition("CREATE TABLE");
      return create_table(session, ast::as<ast::CreateStmt>(node), sink);
    case Kind::create_table_as_stmt:
      definition(ast::as<ast::CreateTableAsStmt>(node).is_select_into ? "SELECT INTO"
                                                                      : "CREATE TABLE AS");
      return create_table_as(session, ast::as<ast::CreateTableAsStmt>(node), statement, parameters,
                             sink);
    case Kind::index_stmt:
      definition("CREATE INDEX");
      return create_index(session, ast::as<ast::IndexStmt>(node), sink);
    case Kind::view_stmt:
      definition("CREATE VIEW");
      return create_view(session, ast::as<ast::ViewStmt>(node), statement, sink);
    case Kind::create_seq_stmt:
      definition("CREATE SEQUENCE");
      return create_sequence(session, ast::as<ast::CreateSeqStmt>(node), sink);
    case Kind::alter_seq_stmt:
      definition("ALTER SEQUENCE");
      return alter_sequence(session, ast::as<ast::AlterSeqStmt>(node), sink);
    case Kind::create_schema_stmt:
      definition("CREATE SCHEMA");
      return create_schema(session, ast::as<ast::CreateSchemaStmt>(node), sink);
    case Kind::create_enum_stmt:
      definition("CREATE TYPE");
      return create_enum(session, ast::as<ast::CreateEnumStmt>(node), sink);
    case Kind::create_range_stmt:
      definition("CREATE TYPE");
      return create_range(session, ast::as<ast::CreateRangeStmt>(node), sink);
    case Kind::composite_type_stmt:
      definition("CREATE TYPE");
      return create_composite(session, ast::as<ast::CompositeTypeStmt>(node), sink);
    case Kind::create_domain_stmt:
      definition("CREATE DOMAIN");
      return create_domain(session, ast::as<ast::CreateDomainStmt>(node), sink);
    case Kind::alter_domain_stmt:
      definition("ALTER DOMAIN");
      return alter_domain(session, ast::as<ast::AlterDomainStmt>(node), sink);
    case Kind::alter_enum_stmt:
      definition("ALTER TYPE");
      return alter_enum(session, ast::as<ast::AlterEnumStmt>(node), sink);
    case Kind::create_function_stmt: {
      const auto& made = ast::as<ast::CreateFunctionStmt>(node);
      definition(made.is_procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION");
      return create_routine(session, made, statement, sink);
    }
    case Kind::create_trig_stmt:
      definition("CREATE TRIGGER");
      return create_trigger(session, ast::as<ast::CreateTrigStmt>(node), sink);
    case Kind::create_policy_stmt:
      definition("CREATE POLICY");
      return create_policy(session, ast::as<ast::CreatePolicyStmt>(node), statement, sink);
    case Kind::alter_policy_stmt:
      definition("ALTER POLICY");
      return alter_policy(session, ast::as<ast::AlterPolicyStmt>(node), statement, sink);
    case Kind::alter_function_stmt:
      definition("ALTER FUNCTION");
      return alter_routine(session, ast::as<ast::AlterFunctionStmt>(node), sink);
    case Kind::do_stmt: {
      session.transaction.begin_statement();
      const TransactionControl control{session.transaction, !session.transaction.in_block()};
      return run_inline_code(session, ast::as<ast::DoStmt>(node), statement, sink);
    }
    case Kind::call_stmt: {
      session.transaction.begin_statement();
      const TransactionControl control{session.transaction, !session.transaction.in_block()};
      return call_procedure(session, ast::as<ast::CallStmt>(node), statement.parameter_types,
                            parameters, sink);
    }
    case Kind::drop_stmt: {
      const auto& dropped = ast::as<ast::DropStmt>(node);
      definition(fmt::format("DROP {}", object_type_name(dropped.remove_type)));
      return drop_objects(session, dropped, sink);
    }
    case Kind::drop_owned_stmt:
      definition("DROP OWNED");
      return drop_owned(session, ast::as<ast::DropOwnedStmt>(node), sink);
    case Kind::reassign_owned_stmt:
      definition("REASSIGN OWNED");
      return reassign_owned(session, ast::as<ast::ReassignOwnedStmt>(node), sink);
    case Kind::truncate_stmt:
      definition("TRUNCATE TABLE");
      return truncate_tables(session, ast::as<ast::TruncateStmt>(node), sink);
    case Kind::refresh_mat_view_stmt:
      definition("REFRESH MATERIALIZED VIEW");
      return refresh_view(session, ast::as<ast::RefreshMatViewStmt>(node), sink);
    case Kind::alter_table_stmt:
      definition("ALTER TABLE");
      if (const auto& altered = ast::as<ast::AlterTableStmt>(node);
          altered.objtype == ast::ObjectType::type) {
        return alter_composite(session, altered, sink);
      }
      return alter_table(session, ast::as<ast::AlterTableStmt>(node), sink);
    case Kind::rename_stmt:
      definition("ALTER");
      return rename_object(session, ast::as<ast::RenameStmt>(node), sink);
    case Kind::alter_owner_stmt:
      definition("ALTER");
      return change_owner(session, ast::as<ast::AlterOwnerStmt>(node), sink);
    case Kind::alter_object_schema_stmt:
      definition("ALTER");
      return change_schema(session, ast::as<ast::AlterObjectSchemaStmt>(node), sink);
    case Kind::createdb_stmt:
      definition("CREATE DATABASE");
      return create_database(session, ast::as<ast::CreatedbStmt>(node), sink);
    case Kind::dropdb_stmt:
      definition("DROP DATABASE");
      return drop_database(session, ast::as<ast::DropdbStmt>(node), sink);
    case Kind::alter_database_stmt:
      definition("ALTER DATABASE");
      return alter_database(session, ast::as<ast::AlterDatabaseStmt>(node), sink);
    case Kind::alter_database_refresh_coll_stmt:
      definition("ALTER DATABASE");
      return refresh_database_collation(session, ast::as<ast::AlterDatabaseRefreshCollStmt>(node),
                                        sink);
    case Kind::reindex_stmt:
      definition("REINDEX");
      return reindex(session, ast::as<ast::ReindexStmt>(node), sink);
    case Kind::grant_stmt: {
      const auto& change = ast::as<ast::GrantStmt>(node);
      definition(change.is_grant ? "GRANT" : "REVOKE");
      return grant_rights(session, change, sink);
    }
    case Kind::alter_default_privileges_stmt:
      definition("ALTER DEFAULT PRIVILEGES");
      return alter_default_privileges(session, ast::as<ast::AlterDefaultPrivilegesStmt>(node),
                                      sink);
    case Kind::grant_role_stmt: {
      const auto& change = ast::as<ast::GrantRoleStmt>(node);
      definition(change.is_grant ? "GRANT ROLE" : "REVOKE ROLE");
      return grant_membership(session, change, sink);
    }
    case Kind::comment_stmt:
      definition("COMMENT");
      return comment_on(session, ast::as<ast::CommentStmt>(node), sink);
    case Kind::create_role_stmt:
      definition("CREATE ROLE");
      return create_role(session, ast::as<ast::CreateRoleStmt>(node), sink);
    case Kind::alter_role_stmt:
      definition("ALTER ROLE");
      return alter_role(session, ast::as<ast::AlterRoleStmt>(node), sink);
    case Kind::drop_role_stmt:
      definition("DROP ROLE");
      return drop_role(session, ast::as<ast::DropRoleStmt>(node), sink);
    case Kind::alter_role_set_stmt:
      definition("ALTER ROLE");
      return alter_role_settings(session, ast::as<ast::AlterRoleSetStmt>(node), sink);
    case Kind::alter_database_set_stmt:
      definition("ALTER DATABASE");
      return alter_database_settings(session, ast::as<ast::AlterDatabaseSetStmt>(node), sink);
    case Kind::alter_system_stmt:
      return alter_system(session, ast::as<ast::AlterSystemStmt>(node), sink);
    default:
      refuse_statement(*node);
  }
}

}  // namespace

/// Resolves names, locks the objects that they mean, and does so again if the names mean others by
/// then.
void Session::State::run_utility(const ast::Node* node, Statement& statement,
                                 std::span<const Value> parameters, ResultSink& sink) {
  Session::State& session = *this;
  for (Attempt attempt;;) {
    try {
      run_once(session, node, statement, parameters, sink, attempt);
      if (takes_snapshot(*node) && session.transaction) session.transaction.take_snapshot();
      return;
    } catch (const DefinitionsMoved&) {
      attempt.resolution.end();
    }
    session.transaction.roll_back_to(*attempt.start);
  }
}

}  // namespace swizzle::sql
