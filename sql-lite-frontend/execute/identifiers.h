#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/functions/quoting.h"

namespace swizzle::sql {

/// Splits a possibly qualified and quoted name as the user wrote it; unquoted parts are folded to
/// lower case. Throws SqlError 42602 for a malformed one.
std::vector<std::string> split_identifier(std::string_view text);

}  // namespace swizzle::sql
