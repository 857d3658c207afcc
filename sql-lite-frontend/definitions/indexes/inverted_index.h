#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE INDEX … USING gin.
namespace swizzle::sql {

/// Throws for options that an inverted index does not support.
void check_inverted_index(const ast::IndexStmt& statement);
/// Throws for unsupported options of a column.
void check_inverted_column(const ast::IndexElem& element);
/// Returns the class name that the catalog stores: empty for the type's default class, or if `name`
/// is empty.
std::string element_class_name(StatementContext& session, TypeId type, std::string_view name);
/// Checks WITH (…) of an index.
void check_index_options(IndexMethod method, ast::NodeList options);

}  // namespace swizzle::sql
