#include "sql-lite-frontend/types/sql_error.h"

#include <fmt/format.h>

namespace swizzle::sql {

SqlError formatted_error(SqlState state, fmt::string_view format, fmt::format_args args) {
  return SqlError{state, fmt::vformat(format, args)};
}

void throw_formatted(SqlState state, fmt::string_view format, fmt::format_args args) {
  throw formatted_error(state, format, args);
}

}  // namespace swizzle::sql
