#include "sql-lite-frontend/types/sql_error.h"

#include <fmt/format.h>

namespace swizzle::sql {

bool is_about_definition(SqlState state) noexcept {
  const std::string_view kind = state.code().substr(0, 2);
  return kind != "40" && kind != "53" && kind != "55" && kind != "57" && kind != "58";
}

SqlError formatted_error(SqlState state, fmt::string_view format, fmt::format_args args) {
  return SqlError{state, fmt::vformat(format, args)};
}

void throw_formatted(SqlState state, fmt::string_view format, fmt::format_args args) {
  throw formatted_error(state, format, args);
}

}  // namespace swizzle::sql
