#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// The text with blanks in place of comments that nest deeply, for the lexer looks at all that
/// follows for each level. Positions stay. Nothing if there are none, as in nearly every text.
std::optional<std::string> without_deep_comments(std::string_view text);

}  // namespace swizzle::sql
