#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// Uniform random sample of a table's rows, taken in one pass.
class RowSample {
 public:
  static constexpr std::size_t kMostRows = 30'000;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  explicit RowSample(std::uint64_t seed) : random_(seed) {}

  void add(Bytes row);
  [[nodiscard]] std::uint64_t rows_seen() const noexcept { return seen_; }

  /// Sorts the sample in the order in which the rows were added.
  void sort();
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] Bytes row(std::size_t index) const noexcept { return as_bytes(rows_[index].bytes); }

 private:
  void halve();

  struct Row {
    std::uint64_t number;
    std::string bytes;
  };
  Random random_;
  std::vector<Row> rows_;
  std::size_t most_ = kMostRows;
  std::size_t bytes_ = 0;
  std::uint64_t seen_ = 0;
};

/// Returns the type under which a column's statistics are stored: text with its collation, unless
/// that is bytewise.
TypeId statistics_type(const Column& column) noexcept;

/// Summarizes a column. `values` are those of the sample in row order, including NULLs; `rows` is
/// the table's number of rows.
ColumnStatistics summarize(std::span<const Value> values, double rows, TypeId type);

/// Summarizes all columns of a sample. Pre: the sample is sorted.
TableStatistics summarize(const RowSample& sample, const Table& table);

}  // namespace swizzle::sql
