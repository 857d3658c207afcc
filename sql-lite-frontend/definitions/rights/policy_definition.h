#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP POLICY. A policy is part of its table's record.
namespace swizzle::sql {

/// Returns the table of a policy's definition, locked for a change. Throws 42809 if it is no table.
TablePtr table_of_policy(StatementContext& session, const ast::RangeVar& range);
void create_policy(StatementContext& session, const ast::CreatePolicyStmt& statement,
                   const Statement& whole, ResultSink& sink);
void alter_policy(StatementContext& session, const ast::AlterPolicyStmt& statement,
                  const Statement& whole, ResultSink& sink);
void drop_policy(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_policy(StatementContext& session, const ast::RenameStmt& statement);
/// COMMENT ON POLICY; `object` is the table's name and the policy's.
void comment_on_policy(StatementContext& session, ast::NodeList object, std::string_view text);
/// ALTER TABLE … ENABLE, DISABLE, FORCE or NO FORCE ROW LEVEL SECURITY. Returns false for other
/// commands.
bool set_row_security(const ast::AlterTableCmd& command, Relation& relation);
/// Returns the policy's description, "policy p on table t".
std::string described(StatementContext& session, const Table& table, const Policy& policy);

/// Returns a policy's condition as "SELECT condition". `whole` is the statement that defines it.
std::string policy_condition_text(const Statement& whole, PolicyClause clause);

// Dependents: policies whose conditions use an object.
void add_policies_over(StatementContext& session, const Table& relation, const std::string& on,
                       std::vector<Dependent>& list);
void add_policies_over_column(StatementContext& session, const Table& relation,
                              std::size_t position, const std::string& on,
                              std::vector<Dependent>& list);
/// Adds policies that use the type, also as a constant of regtype. `type` may be a collation, as in
/// ViewType.
void add_policies_with_type(StatementContext& session, Oid type, const std::string& on,
                            std::vector<Dependent>& list);
/// Adds the policies whose conditions call the object: a routine, or the object of a constant.
void add_policies_calling(StatementContext& session, Oid called, const std::string& on,
                          std::vector<Dependent>& list);

/// DROP OWNED: removes the roles from policies. A policy without other roles is dropped.
void forget_policies_of(StatementContext& session, std::span<const RolePtr> roles);

}  // namespace swizzle::sql
