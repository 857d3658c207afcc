#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/databases/databases.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Runs ALTER ROLE, ALTER DATABASE and ALTER SYSTEM … SET.
namespace swizzle::sql {
void alter_role_settings(Session::State& session, const ast::AlterRoleSetStmt& statement) {
  if (!statement.database.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "ALTER ROLE … IN DATABASE is not supported"};
  }
  if (statement.role == nullptr) {
    if (!session.rights.is_superuser(session.user)) {
      throw SqlError{sqlstate::insufficient_privilege, "permission denied to alter setting"}
          .with_detail("Only roles with the SUPERUSER attribute may alter settings globally.");
    }
    throw SqlError{sqlstate::feature_not_supported, "ALTER ROLE ALL is not supported"};
  }
  const RolePtr role = role_of(session, *statement.role);
  require_alterable(*role);
  require_right_on_settings(session, *role);
  Role changed = *role;
  session.variables.change_stored(changed.settings, *statement.setstmt);
  session.catalog.replace(*session.transaction, *role, std::move(changed));
}

void alter_database_settings(Session::State& session, const ast::AlterDatabaseSetStmt& statement) {
  const DatabasePtr database = database_named(session, statement.dbname);
  session.rights.require_owner(*database);
  DatabaseEntry changed = *database;
  session.variables.change_stored(changed.settings, *statement.setstmt);
  session.catalog.replace(*session.transaction, *database, std::move(changed));
}

void alter_system(Session::State& session, const ast::AlterSystemStmt& statement) {
  const ast::VariableSetStmt& change = *statement.setstmt;
  const bool resets_all = change.kind == ast::VariableSetKind::reset_all;
  if (!session.rights.is_superuser(session.user)) {
    if (resets_all) {
      throw SqlError{sqlstate::insufficient_privilege,
                     "permission denied to perform ALTER SYSTEM RESET ALL"};
    }
    throw_error(sqlstate::insufficient_privilege, "permission denied to set parameter \"{}\"",
                change.name);
  }
  if (!session.shared.store_server_setting) {
    throw SqlError{sqlstate::feature_not_supported, "ALTER SYSTEM needs a server"};
  }
  if (resets_all) {
    value_of(session.shared.store_server_setting({}, std::nullopt));
  } else {
    const std::optional<std::string> value = session.variables.stored_value(change);
    const SettingDefinition* definition = session.shared.settings.find(change.name);
    if (definition == nullptr) {
      throw_error(sqlstate::undefined_object, "unrecognized configuration parameter \"{}\"",
                  change.name);
    }
    if (definition->context == SettingContext::internal) {
      throw_error(SqlState{"55P02"}, "parameter \"{}\" cannot be changed", change.name);
    }
    if (value) value_of(definition->parse(*value));
    if (value && value->find('\n') != std::string::npos) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "parameter value for ALTER SYSTEM must not contain a newline"};
    }
    value_of(session.shared.store_server_setting(definition->name, value));
  }
}

}  // namespace swizzle::sql
