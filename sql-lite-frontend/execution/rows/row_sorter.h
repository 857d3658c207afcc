#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/execution/rows/sort_head.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Stable external sort. Rows beyond work_mem are spilled as sorted runs, which are merged.
///
/// A stored row consists of the values of some slots, and of sort keys that are not among these
/// slots.
class RowSorter {
 public:
  static constexpr std::size_t kAllRows = SIZE_MAX;

  RowSorter(std::span<const SortKey> keys, std::vector<Slot> slots);

  /// Removes all rows and starts a new sort. Only the first `wanted` rows of the result are needed.
  void start(Execution& execution, std::size_t wanted);
  /// Adds the row in the slots.
  void add(Execution& execution);
  /// Ends the input and sorts.
  void finish(Execution& execution);
  /// Reads the next row into the slots; false at the end. Valid until the next call.
  bool next(Execution& execution);
  /// Frees memory and files.
  void release();

  struct Report {
    enum class Method : std::uint8_t { quicksort, top_n, external_merge };
    Method method = Method::quicksort;
    std::size_t bytes = 0;  ///< of memory, or of files
  };
  /// Returns the report on the last sort, also after release().
  [[nodiscard]] const Report& report() const noexcept { return report_; }

 private:
  /// A sort key: its position in a stored row, and its order.
  struct Key {
    const Expr* expr;
    std::size_t place;
    CompareFunction compare;
    SortDirection direction;
    NullsOrder nulls;
  };
  /// A row in memory.
  struct Item {
    std::uint64_t head;  ///< SortHead's
    const Value* row;
    std::uint32_t number;  ///< of arrival
  };
  /// A sorted run that is being merged.
  struct Run {
    explicit Run(RowFile& file) : reader(file) {}
    RowFile::Reader reader;
    std::vector<Value> row;
    std::uint64_t head = 0;
  };

  [[nodiscard]] std::uint64_t head_of(const Value* row) const;
  [[nodiscard]] int compare_rows(const Value* left, const Value* right) const;
  [[nodiscard]] bool before(const Item& left, const Item& right) const;
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  void keep_best(const Item& item);
  void compact();
  void sort_items();
  void write_run(Execution& execution);
  void merge_runs(std::span<std::unique_ptr<RowFile>> files);
  bool advance(std::size_t run);
  [[nodiscard]] bool later(std::size_t left, std::size_t right) const;
  [[nodiscard]] const std::vector<Value>* next_merged(Execution& execution);

  std::vector<Slot> slots_;
  std::vector<Key> keys_;
  std::optional<SortHead> head_;  ///< unless there are no keys
  std::size_t width_ = 0;
  std::size_t wanted_ = kAllRows;
  std::vector<Value> scratch_;
  CountedVector<Item> items_;
  Arena arena_;
  std::uint32_t arrived_ = 0;
  std::size_t kept_since_compaction_ = 0;
  std::size_t position_ = 0;
  std::vector<std::unique_ptr<RowFile>> files_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;  ///< of runs_, the one with the first row in front
  std::optional<std::size_t> handed_out_;
  Report report_;
};

}  // namespace swizzle::sql
