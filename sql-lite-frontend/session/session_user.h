#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/session/session_state.h"

/// The role that a session is for, as opposed to the one that it acts as (SET ROLE).
namespace swizzle::sql {

/// Whom SET SESSION AUTHORIZATION has named, or who logged in.
std::string session_user_name(const Session::State& session);

/// Throws 22023 for a role that is not there, and 42501 unless who logged in is a superuser or
/// named themselves.
void require_session_authorization(const Session::State& session, std::string_view name);

}  // namespace swizzle::sql
