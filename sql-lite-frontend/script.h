#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swizzle::sql {

class Session;

/// Returns the statement of a script, without surrounding blanks, that comes after so many others:
/// for code that has the text of a Query message and has counted its tags. Returns the whole text
/// if there is no such statement, if it cannot be parsed, or if it is too long to be parsed again.
/// Parses, so it is meant for failed requests.
std::string_view statement_after(std::string_view script, std::size_t others);

/// Classes of statements for log_statement, from the one that is logged least often to the one that
/// is logged most. The classes are PostgreSQL's, except that a query whose WITH writes counts as a
/// change.
enum class LogClass : std::uint8_t { other, change, definition };
/// Returns the highest class of a text's statements; EXECUTE has that of the prepared statement.
LogClass log_class(Session& session, std::string_view script);

}  // namespace swizzle::sql
