#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Returns the roles that GRANT and REVOKE name.
std::vector<Oid> grantees_of(StatementContext& session, const ast::GrantStmt& statement);

/// Stores the memberships of roles in the list, for the lifetime of the session.
void tell_memberships(StatementContext& session, AccessList& list);

struct ListChange {
  const ast::GrantStmt& statement;
  std::span<const Oid> grantees;
  Oid grantor;
  Privileges privileges;
};
/// Applies the statement to one list. 0LP01 for grant options to PUBLIC.
void change_list(StatementContext& session, AccessList& list, const ListChange& change);

/// ALTER DEFAULT PRIVILEGES.
void alter_default_privileges(StatementContext& session,
                              const ast::AlterDefaultPrivilegesStmt& statement);

}  // namespace swizzle::sql
