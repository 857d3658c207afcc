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

/// Statistics of one column from a sample. Values are in flat form, in the type's order.
struct ColumnStatistics {
  std::int16_t column = 0;  ///< from 1
  TypeId type = TypeId::none;
  double null_fraction = 0;
  double average_width = 0;
  /// Number of distinct values as in pg_statistic.stadistinct: a number, or, if negative, minus
  /// their share of the rows.
  double distinct = 0;
  struct Common {
    std::string value;
    double frequency;
  };
  std::vector<Common> common;
  /// Bounds of equal-depth buckets over the values that are not in `common`.
  std::vector<std::string> histogram;
  /// Correlation between physical row order and value order.
  double correlation = 0;

  [[nodiscard]] double distinct_of(double rows) const noexcept {
    return distinct < 0 ? -distinct * rows : distinct;
  }
};

struct TableStatistics {
  double rows = 0;
  std::vector<ColumnStatistics> columns;

  /// Returns a column's statistics; null if there are none, or only for another type.
  [[nodiscard]] const ColumnStatistics* column(std::int16_t number, TypeId type) const noexcept;
};
using StatisticsPtr = CheckedShared<const TableStatistics>;

/// Stored form: a format version, then the fields in order, little-endian.
std::string encode(const ColumnStatistics& statistics);
/// Throws SqlError XX001 on malformed bytes or an unknown version.
ColumnStatistics decode_column_statistics(Bytes bytes);

}  // namespace swizzle::sql
