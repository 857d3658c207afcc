#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// Returns the text with blanks in place of deeply nested comments, since the lexer reads the rest
/// of the text for each level. Positions stay. Nothing if there are none, as in nearly every text.
std::optional<std::string> without_deep_comments(std::string_view text);

}  // namespace swizzle::sql
