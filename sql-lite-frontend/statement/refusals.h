#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"

/// Names of unsupported features in their refusals (0A000).
namespace swizzle::sql {

/// "TRIGGER", "MATERIALIZED VIEW": the words of CREATE and DROP.
std::string_view object_type_name(ast::ObjectType type) noexcept;
/// Returns the words that a statement begins with: "CREATE TRIGGER", "MERGE"; empty for other
/// nodes.
std::string_view refused_statement_name(ast::NodeKind kind) noexcept;

/// "ENABLE TRIGGER": the words of an ALTER TABLE command.
std::string_view alter_form_name(ast::AlterTableType type) noexcept;

/// Throws 0A000 "… is not supported".
[[noreturn]] void refuse_statement(const ast::Node& statement);

}  // namespace swizzle::sql
