#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Session user and current user (SET SESSION AUTHORIZATION, SET ROLE).
namespace swizzle::sql {

/// Returns the name of the session user: the role of SET SESSION AUTHORIZATION, else the login
/// role.
std::string session_user_name(const StatementContext& session);
/// Returns the name of the current role. Throws 42704 if it has been dropped.
std::string current_user_name(const StatementContext& session);

/// Sets the session user. Throws 22023 if the role does not exist, and 42501 unless the login role
/// is a superuser or that role.
void name_session_user(StatementContext& session, std::string_view name);
/// Sets the current role, as SET ROLE. The session user must be a member of it.
void name_current_user(StatementContext& session, std::string_view name);

}  // namespace swizzle::sql
