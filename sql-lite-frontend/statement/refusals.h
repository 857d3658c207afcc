#pragma once

#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"

/// Names of unsupported features in their refusals (0A000).
namespace swizzle::sql {

/// "ENABLE TRIGGER": the words of an ALTER TABLE command.
std::string_view alter_form_name(ast::AlterTableType type) noexcept;

/// Throws 0A000 if the constraint says what PostgreSQL 15's grammar has no words for: NOT ENFORCED,
/// WITHOUT OVERLAPS, PERIOD, VIRTUAL, or NOT NULL by itself.
void refuse_newer_constraint(const ast::Constraint& constraint);

/// Throws 0A000 "… is not supported".
[[noreturn]] void refuse_statement(const ast::Node& statement);

}  // namespace swizzle::sql
