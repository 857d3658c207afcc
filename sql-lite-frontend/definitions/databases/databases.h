#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

DatabasePtr database_named(StatementContext& session, std::string_view name);
void rename_database(StatementContext& session, std::string_view name, const std::string& new_name);
void own_database(StatementContext& session, std::string_view name, const Role& new_owner);

}  // namespace swizzle::sql
