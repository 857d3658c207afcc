#pragma once

#include <cstddef>
#include <string_view>

namespace swizzle::sql {

/// The statement of a script, without surrounding blanks, that comes after so many others: for who
/// has the text of a Query message and has seen that many tags. All of the text where there is no
/// such statement, the text cannot be parsed, or is longer than is worth a second look. Parses, so
/// it is for what went wrong.
std::string_view statement_after(std::string_view script, std::size_t others);

}  // namespace swizzle::sql
