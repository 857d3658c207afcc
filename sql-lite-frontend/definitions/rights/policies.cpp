#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/types/sql_error.h"

/// CREATE POLICY and ALTER POLICY.
namespace swizzle::sql {
namespace {

char command_of(std::string_view name) {
  if (name == "select") return 'r';
  if (name == "insert") return 'a';
  if (name == "update") return 'w';
  return name == "delete" ? 'd' : '*';
}

constexpr bool only_reads(char command) {
  return command == 'r' || command == 'd';
}

/// Returns the policy's roles; PUBLIC alone if it is among them.
std::vector<Oid> roles_in(StatementContext& session, ast::NodeList names, ResultSink& sink) {
  std::vector<Oid> roles;
  for (const ast::Node* node : names) {
    const auto& spec = ast::as<ast::RoleSpec>(node);
    if (spec.roletype == ast::RoleSpecType::public_) {
      if (names.size() > 1) {
        Diagnostic warning;
        warning.severity = Severity::warning;
        warning.state = SqlState{"22023"};
        warning.message = "ignoring specified roles other than PUBLIC";
        warning.hint = "All roles are members of the PUBLIC role.";
        session.send_notice(sink, std::move(warning));
      }
      return {kPublic};
    }
    const Oid role = role_of(session, spec)->oid;
    if (std::ranges::find(roles, role) == roles.end()) roles.push_back(role);
  }
  if (roles.empty()) roles.push_back(kPublic);
  return roles;
}

ViewName name_of_table(StatementContext& session, const Table& table) {
  ViewName name{session.names.schema_name(table.relation.schema),
                table.relation.name,
                table.relation.oid,
                {}};
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (!column.dropped) name.columns.push_back({static_cast<std::int16_t>(i + 1), column.name});
  }
  return name;
}

PolicyCondition stored(StatementContext& session, const TablePtr& table, const ast::Node* node,
                       const Statement& whole, PolicyClause clause) {
  PolicyCondition condition;
  if (node == nullptr) return condition;
  Arena arena;
  Binder binder{session.names, arena};
  Scope scope = binder.table_scope(table, table->relation.name,
                                   binder.new_slots(table->relation.columns.size()));
  scope.clause = Clause::policy;
  try {
    static_cast<void>(binder.bind_condition(node, scope, "POLICY"));
  } catch (SqlError& error) {
    // PostgreSQL's errors in policies have no position.
    error.fields().position = 0;
    throw;
  }
  condition.names.push_back(name_of_table(session, *table));
  for (const ViewName& row : binder.rows_read()) condition.names.push_back(row);
  for (const Binder::RelationRead& read : binder.relations_read()) {
    if (read.table->computed == nullptr && read.table->relation.oid != table->relation.oid) {
      session.catalog.lock(*session.transaction, read.table->relation.oid,
                           lock::RelationMode::access_share);
    }
    condition.names.push_back(view_name_of(read));
  }
  condition.types = binder.types_read();
  require_type_usage(session, condition.types);
  condition.routines = binder.routines_read();
  hold_named(session, condition.routines);
  condition.sql = policy_condition_text(whole, clause);
  return condition;
}

void put(StatementContext& session, const Table& table, Relation relation) {
  std::ranges::sort(relation.policies, {}, &Policy::name);
  session.catalog.replace(*session.transaction, table, std::move(relation));
}

}  // namespace

TablePtr table_of_policy(StatementContext& session, const ast::RangeVar& range) {
  const NamedRelation found = require_named_relation(session, range);
  require_alterable(session, found);
  if (found.index != nullptr || !is_table(found.table->relation.kind)) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not a table",
                found.index != nullptr ? found.index->name : found.table->relation.name);
  }
  return session.rights.lock_own(found.table);
}

void create_policy(StatementContext& session, const ast::CreatePolicyStmt& statement,
                   const Statement& whole, ResultSink& sink) {
  Policy policy;
  policy.name = statement.policy_name;
  policy.command = command_of(statement.cmd_name);
  policy.permissive = statement.permissive;
  if (only_reads(policy.command) && statement.with_check != nullptr) {
    throw SqlError{sqlstate::syntax_error, "WITH CHECK cannot be applied to SELECT or DELETE"};
  }
  if (policy.command == 'a' && statement.qual != nullptr) {
    throw SqlError{sqlstate::syntax_error, "only WITH CHECK expression allowed for INSERT"};
  }
  policy.roles = roles_in(session, statement.roles, sink);
  const TablePtr table = table_of_policy(session, *statement.table);
  policy.using_rows = stored(session, table, statement.qual, whole, PolicyClause::using_rows);
  policy.check = stored(session, table, statement.with_check, whole, PolicyClause::with_check);
  Relation relation = table->relation;
  if (std::ranges::find(relation.policies, policy.name, &Policy::name) != relation.policies.end()) {
    throw_error(sqlstate::duplicate_object, "policy \"{}\" for table \"{}\" already exists",
                policy.name, relation.name);
  }
  policy.oid = session.catalog.allocate_oid();
  relation.policies.push_back(std::move(policy));
  put(session, *table, std::move(relation));
}

void alter_policy(StatementContext& session, const ast::AlterPolicyStmt& statement,
                  const Statement& whole, ResultSink& sink) {
  std::vector<Oid> roles;
  if (!statement.roles.empty()) roles = roles_in(session, statement.roles, sink);
  const TablePtr table = table_of_policy(session, *statement.table);
  PolicyCondition using_rows =
      stored(session, table, statement.qual, whole, PolicyClause::using_rows);
  PolicyCondition check =
      stored(session, table, statement.with_check, whole, PolicyClause::with_check);
  Relation relation = table->relation;
  const auto policy = std::ranges::find(relation.policies, statement.policy_name, &Policy::name);
  if (policy == relation.policies.end()) {
    throw_error(sqlstate::undefined_object, "policy \"{}\" for table \"{}\" does not exist",
                statement.policy_name, relation.name);
  }
  if (only_reads(policy->command) && check.is_given()) {
    throw SqlError{sqlstate::syntax_error, "only USING expression allowed for SELECT, DELETE"};
  }
  if (policy->command == 'a' && using_rows.is_given()) {
    throw SqlError{sqlstate::syntax_error, "only WITH CHECK expression allowed for INSERT"};
  }
  if (!roles.empty()) policy->roles = std::move(roles);
  if (using_rows.is_given()) policy->using_rows = std::move(using_rows);
  if (check.is_given()) policy->check = std::move(check);
  put(session, *table, std::move(relation));
}

bool set_row_security(const ast::AlterTableCmd& command, Relation& relation) {
  using Action = ast::AlterTableType;
  switch (command.subtype) {
    case Action::enablerowsecurity:
      relation.row_security = true;
      return true;
    case Action::disablerowsecurity:
      relation.row_security = false;
      return true;
    case Action::forcerowsecurity:
      relation.forces_row_security = true;
      return true;
    case Action::noforcerowsecurity:
      relation.forces_row_security = false;
      return true;
    default:
      return false;
  }
}

}  // namespace swizzle::sql
