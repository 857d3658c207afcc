#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::plpgsql {

/// Appends a line to the error's CONTEXT: that of a call goes below those of the calls inside it.
/// Clears the position, which would refer to the body.
inline void add_context(SqlError& error, std::string_view line) {
  std::string& where = error.fields().where;
  if (!where.empty()) where += "\n";
  where += line;
  error.fields().position = 0;
}

/// Appends the context of a statement or expression, unless the error has a position in it, which
/// PostgreSQL shows instead.
inline void add_sql_context(SqlError& error, std::string_view line) {
  if (error.fields().position > 0) {
    error.fields().position = 0;
    return;
  }
  add_context(error, line);
}

}  // namespace swizzle::sql::plpgsql
