#pragma once

#include <string_view>

#include "sql-lite-frontend/execute/expression.h"

namespace swizzle::sql {

/// Null when there is no session function of that name that takes so many arguments.
const SessionFunction* find_session_function(std::string_view name, std::size_t arguments);

}  // namespace swizzle::sql
