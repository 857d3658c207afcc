#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// Parses any number of statements with PostgreSQL's grammar. The tree is allocated in `arena` and
/// does not refer to `text`. Throws SqlError with PostgreSQL's message and a byte position. The
/// memory for parsing a long text is charged to the arena's account.
ast::Items<ast::RawStmt> parse_script(Arena& arena, const std::string& text);

/// Returns the part of the script for one statement, without surrounding blanks.
std::string_view statement_text(std::string_view script, const ast::RawStmt& statement);

}  // namespace swizzle::sql
