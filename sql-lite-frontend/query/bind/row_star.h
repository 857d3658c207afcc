#pragma once

#include "sql-lite-frontend/query/parse/ast.h"

namespace swizzle::sql {

/// Returns true for `t.*` and `(row).*`, which stand for several values in a list.
inline bool is_star_of_row(const ast::Node* node) {
  if (const auto* column = ast::try_as<ast::ColumnRef>(node))
    return column->fields.size() > 1 && ast::is<ast::A_Star>(column->fields.back());
  const auto* const part = ast::try_as<ast::A_Indirection>(node);
  return part != nullptr && ast::is<ast::A_Star>(part->indirection.back());
}

}  // namespace swizzle::sql
