#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// The role that a session is for, as opposed to the one that it acts as (SET ROLE).
namespace swizzle::sql {

/// Returns the name of the role that SET SESSION AUTHORIZATION has named, or else the login role's.
std::string session_user_name(const StatementContext& session);
/// Returns the name of the role that the session acts as. 42704 when that role is gone.
std::string current_user_name(const StatementContext& session);

/// Remembers the role that the name means from now on. Throws 22023 for a role that is not there,
/// and 42501 unless the login role is a superuser or the role itself.
void name_session_user(StatementContext& session, std::string_view name);
/// The same for SET ROLE: the session's user has to be a member of the role.
void name_current_user(StatementContext& session, std::string_view name);

}  // namespace swizzle::sql
