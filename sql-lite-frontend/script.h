#pragma once

#include <cstddef>
#include <string_view>

namespace swizzle::sql {

/// Returns the statement of a script, without surrounding blanks, that comes after `others`
/// statements, for a caller that has the text of a Query message and has seen that many tags.
/// Returns all of the text if there is no such statement, or the text cannot be parsed, or is too
/// long to parse twice. Parses, so use it for failures only.
std::string_view statement_after(std::string_view script, std::size_t others);

}  // namespace swizzle::sql
