#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::plpgsql {

/// Appends to PostgreSQL's CONTEXT: each level of calls adds a line below those of the levels
/// inside it. Clears the position, which would point into the body.
inline void add_context(SqlError& error, std::string_view line) {
  std::string& where = error.fields().where;
  if (!where.empty()) where += "\n";
  where += line;
  error.fields().position = 0;
}

/// Appends the context of a statement or expression; if a position tells the place inside,
/// PostgreSQL shows that instead.
inline void add_sql_context(SqlError& error, std::string_view line) {
  if (error.fields().position > 0) {
    error.fields().position = 0;
    return;
  }
  add_context(error, line);
}

}  // namespace swizzle::sql::plpgsql
