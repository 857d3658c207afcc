#pragma once

#include <string>
#include <string_view>

namespace swizzle::sql {

/// Returns quote_ident() of the name: in double quotes unless it is a plain lower-case word that
/// the grammar does not reserve.
std::string quote_identifier(std::string_view name);
/// Returns quote_literal() of the text: with an E in front if there are backslashes.
std::string quote_literal(std::string_view text);
/// True if the word may not stand unquoted as a name everywhere (keywords that are not
/// "unreserved").
bool is_reserved_word(std::string_view word);

}  // namespace swizzle::sql
