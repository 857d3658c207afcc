#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/query/parse/syntax_tree.h"

/// Parts of a statement that the parser library has read, printed by it as SQL. A definition is
/// stored as its own text, without the statement around it.
namespace swizzle::sql {

/// The statement of the script that begins at `location`, as RawStmt::stmt_location has it.
std::optional<Bytes> statement_at(const SyntaxTree& parsed, std::int32_t location);
/// The message, or text, that a message of the library's encoding has under that number.
std::optional<Bytes> field_of(Bytes message, std::uint32_t number);
/// A message that has `body` under that number, and nothing else.
std::string message_with(std::uint32_t number, std::string_view body);
/// `node`, a statement, as SQL. Empty where the library cannot print it so that it can be read.
/// Throws SqlError 54001.
std::string printed_statement(const SyntaxTree& parsed, std::string_view node);

}  // namespace swizzle::sql
