#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Whom GRANT and REVOKE name. 0LP01 for grant options to everybody.
std::vector<Oid> grantees_of(Session::State& session, const ast::GrantStmt& statement);

/// Does to one list what the statement says.
void change_list(AccessList& list, const ast::GrantStmt& statement, std::span<const Oid> grantees,
                 Oid grantor, Privileges privileges);

/// ALTER DEFAULT PRIVILEGES.
void alter_default_privileges(Session::State& session,
                              const ast::AlterDefaultPrivilegesStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
