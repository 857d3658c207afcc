#pragma once

#include <memory>
#include <optional>

#include "sql-lite-frontend/execution/access/key_batch.h"
#include "sql-lite-frontend/execution/access/table_access.h"

namespace swizzle::sql {

/// Table or index scan over all keys or some ranges. If the order of the index is not needed, rows
/// come in batches sorted by the table's key, because that is faster.
class RangeAccess final : public TableAccess {
 public:
  /// `bounds` without an index scans the whole table.
  RangeAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted, IndexBounds bounds,
              Direction direction);
  RangeAccess(const RangeAccess& of, StepCopies& copies)
      : TableAccess(of, copies),
        bounds_(of.bounds_),
        direction_(of.direction_),
        from_key_(of.from_key_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<RangeAccess>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] Bytes key() const noexcept override;
  [[nodiscard]] Bytes row() const noexcept override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    bounds_.change().for_each_expression(visit);
  }

  /// Returns the number of remaining rows, for a caller that only counts them. Pre: no column of
  /// the row is read.
  std::uint64_t count_rest(Execution& execution);
  /// True if rows can be counted without being read.
  [[nodiscard]] bool reads_nothing() const noexcept;

 private:
  /// [low, high); an empty bound is open-ended.
  struct KeyRange {
    std::string low;
    std::string high;
  };
  /// A column that an index entry holds, and its slot.
  struct FromKey {
    std::size_t place;  ///< among the index's columns, and after them those of the row's key
    Slot slot;
  };
  KeyRange& add_range();
  void make_ranges(Execution& execution);
  void make_range_pieces(Execution& execution);
  void make_any_ranges(Execution& execution, const std::string& prefix);
  void make_alternative_ranges(Execution& execution, const std::string& prefix);
  void order_ranges();
  /// Range of the column at `place`; false if it is empty.
  struct Limits {
    const Expr* low;
    const Expr* high;
    ScanRange::Bound low_bound;
    ScanRange::Bound high_bound;
  };
  bool bound_range(Execution& execution, KeyRange& range, std::size_t place, const Limits& limits);
  bool start_next_range(Execution& execution);
  bool next_entry(Execution& execution);
  [[nodiscard]] std::string_view row_key_of_entry() const;
  bool fetch(Execution& execution, std::string_view key);
  bool next_of_batch(Execution& execution);
  void find_key_columns();
  void take_from_key(Execution& execution);
  void tell_counters() noexcept;
  void leave_range() noexcept;
  [[nodiscard]] bool uses_secondary() const noexcept {
    return bounds_->index != nullptr && bounds_->index->tree.has_value();
  }

  Planned<IndexBounds> bounds_;
  Direction direction_;
  std::vector<FromKey> from_key_;  ///< by ascending place
  std::optional<Cursor> cursor_;
  /// Ranges in scan order. The first `range_count_` are in use; the rest only keep their memory for
  /// reuse.
  std::vector<KeyRange> ranges_;
  std::size_t range_count_ = 0;
  std::size_t next_range_ = 0;
  std::string prefix_;
  ValueBuffer fetched_;
  KeyBatch batch_;
  /// Counts since open() that have not been added to the statistics yet.
  ScanCounts counts_;
  bool is_counted_ = true;
};

}  // namespace swizzle::sql
