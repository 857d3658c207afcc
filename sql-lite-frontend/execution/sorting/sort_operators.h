#pragma once

#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Compares two rows of key values.
class RowComparison {
 public:
  RowComparison() = default;
  explicit RowComparison(std::span<const SortKey> keys);
  [[nodiscard]] int operator()(const Value* left, const Value* right) const;
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }

 private:
  struct Column {
    CompareFunction compare;
    SortDirection direction;
    NullsOrder nulls;
  };
  std::vector<Column> columns_;
};

}  // namespace swizzle::sql
