#pragma once

#include <string_view>

#include "sql-lite-frontend/query/parse/ast_nodes.h"

/// Names of kinds of objects, as in statements and their tags.
namespace swizzle::sql {

/// "TRIGGER", "MATERIALIZED VIEW": the words of CREATE and DROP.
std::string_view object_type_name(ast::ObjectType type) noexcept;

/// Tags: "CREATE TYPE", "ALTER TYPE", "DROP TYPE".
std::string_view create_tag(ast::ObjectType type) noexcept;
std::string_view alter_tag(ast::ObjectType type) noexcept;
std::string_view drop_tag(ast::ObjectType type) noexcept;

}  // namespace swizzle::sql
