#pragma once

#include <functional>
#include <string_view>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/script.h"

namespace swizzle::sql {

/// Returns the tree of a prepared statement; null: there is none of that name.
using PreparedTree = std::function<const ast::Node*(std::string_view name)>;

/// Returns the class of one statement; EXECUTE and PREPARE have that of the prepared statement.
LogClass log_class_of(const ast::Node* statement, const PreparedTree& prepared);

/// Returns the highest class among the statements of a text; `other` for a text that cannot be
/// parsed. Parses it unless its first word is enough.
LogClass log_class_of(std::string_view script, const PreparedTree& prepared);

}  // namespace swizzle::sql
