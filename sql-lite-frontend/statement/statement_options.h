#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"

/// The options in parentheses that VACUUM, EXPLAIN, COPY and others take.
namespace swizzle::sql {

/// Returns true or false for PostgreSQL's words: on, off, true, false, 1, 0, and the bare name for
/// true. Returns nothing for other values.
std::optional<bool> option_as_flag(const ast::DefElem& option);
/// The same, but throws 42601 for other values.
bool option_flag(const ast::DefElem& option);
/// Throws 42601 unless it is a whole number.
std::int32_t option_integer(const ast::DefElem& option);
/// Throws 42601 at the second of two options with one name.
void refuse_repeats(ast::NodeList options);
/// Adds the option to `seen`. Throws 42601 if it is there already, unless it is SET. For CREATE
/// FUNCTION and similar statements.
void note_option(const ast::DefElem& option, std::vector<std::string_view>& seen);
/// 42601 "unrecognized VACUUM option …" at its position.
[[noreturn]] void refuse_option(std::string_view command, const ast::DefElem& option);

}  // namespace swizzle::sql
