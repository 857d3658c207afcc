#include "sql-lite-frontend/execution/sorting/sort_operators.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

RowComparison::RowComparison(std::span<const SortKey> keys) {
  for (const SortKey& key : keys) {
    const CompareFunction compare = compare_function(key.expr->type());
    if (compare == nullptr) {
      throw sql_error(sqlstate::undefined_function,
                      "could not identify an ordering operator for type {}",
                      format_type(key.expr->type()))
          .with_hint("Use an explicit ordering operator or modify the query.");
    }
    columns_.push_back({compare, key.direction, key.nulls});
  }
}

int RowComparison::operator()(const Value* left, const Value* right) const {
  for (const Column& column : columns_) {
    const Value& a = *left++;
    const Value& b = *right++;
    if (a.is_null() || b.is_null()) {
      if (a.is_null() && b.is_null()) continue;
      return a.is_null() == (column.nulls == NullsOrder::first) ? -1 : 1;
    }
    const int order = column.compare(a, b);
    if (order != 0) return column.direction == SortDirection::descending ? -order : order;
  }
  return 0;
}

}  // namespace swizzle::sql
