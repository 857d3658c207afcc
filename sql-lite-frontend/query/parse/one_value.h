#pragma once

#include "sql-lite-frontend/query/parse/ast.h"

namespace swizzle::sql {

/// True for SELECT expression, without any other clause.
[[nodiscard]] inline bool selects_one_value(const ast::SelectStmt& select) {
  return select.from_clause.empty() && select.where_clause == nullptr &&
         select.group_clause.empty() && select.having_clause == nullptr &&
         select.window_clause.empty() && select.values_lists.empty() &&
         select.sort_clause.empty() && select.limit_offset == nullptr &&
         select.limit_count == nullptr && select.locking_clause.empty() &&
         select.with_clause == nullptr && select.distinct_clause.empty() &&
         select.op == ast::SetOperation::none && select.into_clause == nullptr &&
         select.target_list.size() == 1;
}

}  // namespace swizzle::sql
