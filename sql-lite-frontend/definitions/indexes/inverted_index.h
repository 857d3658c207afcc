#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE INDEX … USING gin.
namespace swizzle::sql {

/// Throws for options that an inverted index does not support.
void check_inverted_index(const ast::IndexStmt& statement);
/// The same of one of its columns.
void check_inverted_column(const ast::IndexElem& element);
/// Returns the catalog's name of a class over a column's type: empty for the default. `name` empty:
/// the default is wanted.
std::string element_class_name(StatementContext& session, TypeId type, std::string_view name);
/// WITH (…) of an index.
void check_index_options(IndexMethod method, ast::NodeList options);

}  // namespace swizzle::sql
