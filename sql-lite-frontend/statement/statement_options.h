#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"

/// The options in parentheses that VACUUM, EXPLAIN, COPY and others take.
namespace swizzle::sql {

/// True or false in PostgreSQL's words: on, off, true, false, 1, 0, and the bare name for true.
/// Nothing for other values.
std::optional<bool> option_as_flag(const ast::DefElem& option);
/// 42601 for other values.
bool option_flag(const ast::DefElem& option);
/// 42601 unless a whole number stands there.
std::int32_t option_integer(const ast::DefElem& option);
/// 42601 at the second of two that are called the same.
void refuse_repeats(ast::NodeList options);
/// Throws 42601 for an option that is among `seen`, which only SET may be, and puts it there: of
/// CREATE FUNCTION and its like.
void note_option(const ast::DefElem& option, std::vector<std::string_view>& seen);
/// 42601 "unrecognized VACUUM option …" at its place.
[[noreturn]] void refuse_option(std::string_view command, const ast::DefElem& option);

}  // namespace swizzle::sql
