#pragma once

#include <optional>
#include <string>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session.h"

/// Objects as the SQL that would make them: pg_get_constraintdef and its like.
namespace swizzle::sql {

std::optional<std::string> definition_of_constraint(Session::State& session, Oid constraint);
/// `column` 0 is the whole index, otherwise one of its columns.
std::optional<std::string> definition_of_index(Session::State& session, Oid index,
                                               std::int32_t column);
/// A stored expression with the names that objects have now.
std::string printed_expression(Session::State& session, const Table& table, const std::string& sql);

}  // namespace swizzle::sql
