#pragma once

#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"

/// Names of unsupported features for the messages of 0A000.
namespace swizzle::sql {

/// Returns the keywords of an ALTER TABLE command, such as "ENABLE TRIGGER".
std::string_view alter_form_name(ast::AlterTableType type) noexcept;

/// Throws 0A000 "… is not supported".
[[noreturn]] void refuse_statement(const ast::Node& statement);

}  // namespace swizzle::sql
