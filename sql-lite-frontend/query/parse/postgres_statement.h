#pragma once

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"

/// Statements that PostgreSQL parses differently from the parser library's grammar.
namespace swizzle::sql {

/// SELECT … INTO is CREATE TABLE … AS, also if INTO is in the first query of a UNION. Throws 42601
/// where the library accepts a parameter for a setting's value or a password.
const ast::RawStmt* as_postgres_reads(Arena& arena, const ast::RawStmt* statement);

}  // namespace swizzle::sql
