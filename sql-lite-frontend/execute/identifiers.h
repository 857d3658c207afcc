#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzle::sql {

/// "name", quoted where PostgreSQL's parser would need it.
std::string quote_identifier(std::string_view name);
/// 'text', with quotes doubled and E'' where there are backslashes.
std::string quote_literal(std::string_view text);

/// Splits a possibly qualified and quoted name as the user wrote it; unquoted parts are folded to
/// lower case. Throws SqlError 42602 for a malformed one.
std::vector<std::string> split_identifier(std::string_view text);

}  // namespace swizzle::sql
