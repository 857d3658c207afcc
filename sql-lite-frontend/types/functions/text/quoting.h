#pragma once

#include <string>
#include <string_view>

namespace swizzle::sql {

/// quote_ident(): returns the name in double quotes, unless it is a plain lower-case word that is
/// not reserved.
std::string quote_identifier(std::string_view name);
/// quote_literal(): returns the text in single quotes, preceded by E if it contains backslashes.
std::string quote_literal(std::string_view text);
/// True if the word must be quoted as a name in some places (keywords that are not "unreserved").
bool is_reserved_word(std::string_view word);

}  // namespace swizzle::sql
