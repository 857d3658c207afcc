#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Statistics of one column from a sample. Values are in flat form and ordered by the type's own
/// order.
struct ColumnStatistics {
  std::int16_t column = 0;  ///< from 1
  TypeId type = TypeId::none;
  double null_fraction = 0;
  double average_width = 0;
  /// Number of distinct values, as in pg_statistic: a number, or, below zero, minus their share of
  /// the rows.
  double distinct = 0;
  struct Common {
    std::string value;
    double frequency;
  };
  std::vector<Common> common;
  /// Bounds of parts with as many rows each, of the values that are not in `common`.
  std::vector<std::string> histogram;
  /// Correlation between the order of the rows and the order of the values.
  double correlation = 0;

  [[nodiscard]] double distinct_of(double rows) const noexcept {
    return distinct < 0 ? -distinct * rows : distinct;
  }
};

struct TableStatistics {
  double rows = 0;
  std::vector<ColumnStatistics> columns;

  /// Null when nothing is known, or only of another type.
  [[nodiscard]] const ColumnStatistics* column(std::int16_t number, TypeId type) const noexcept;
};
using StatisticsPtr = CheckedShared<const TableStatistics>;

/// The stored form: a format version, then the fields in order, little-endian.
std::string encode(const ColumnStatistics& statistics);
/// Throws SqlError XX001 on malformed bytes or an unknown version.
ColumnStatistics decode_column_statistics(Bytes bytes);

}  // namespace swizzle::sql
