#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

DatabasePtr database_named(Session::State& session, std::string_view name);
void rename_database(Session::State& session, std::string_view name, const std::string& new_name);
void own_database(Session::State& session, std::string_view name, const Role& new_owner);

}  // namespace swizzle::sql
