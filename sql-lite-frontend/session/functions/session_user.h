#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"

/// The role that a session is for, as opposed to the one that it acts as (SET ROLE).
namespace swizzle::sql {

/// The name of whom SET SESSION AUTHORIZATION has named, or of who logged in.
std::string session_user_name(const Session::State& session);
/// The name of whom the session acts as. 42704 when that role is gone.
std::string current_user_name(const Session::State& session);

/// Remembers whom the name means from now on. Throws 22023 for a role that is not there, and 42501
/// unless who logged in is a superuser or named themselves.
void name_session_user(Session::State& session, std::string_view name);
/// The same for SET ROLE: the session's user has to be a member of the role.
void name_current_user(Session::State& session, std::string_view name);

}  // namespace swizzle::sql
