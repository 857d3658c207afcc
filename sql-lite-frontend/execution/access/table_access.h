#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Returns the hidden row id in a row's key, as an xid8.
Value row_id_of(Bytes key);

/// Base class of plan nodes that read a table's rows: assigns columns to slots and has a current
/// row. Derived classes are the access paths.
class TableAccess : public PlanOperator {
 public:
  struct Wanted {
    std::size_t position;  ///< of the column
    Slot slot;
  };
  TableAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted);
  TableAccess(const TableAccess& of, StepCopies& /*copies*/)
      : table_(of.table_),
        tree_(of.tree_),
        alias_(of.alias_),
        wanted_(of.wanted_),
        wait_(of.wait_),
        identity_(of.identity_) {}

  [[nodiscard]] const Table& table() const noexcept { return *table_; }
  [[nodiscard]] const TablePtr& table_pointer() const noexcept { return table_; }
  [[nodiscard]] const std::string& alias() const noexcept { return alias_; }
  /// Key of the row that next() found; valid until the next call.
  [[nodiscard]] virtual Bytes key() const noexcept { return as_bytes(key_); }
  [[nodiscard]] virtual Bytes row() const noexcept = 0;

  /// Stores the row's key and encoded row in slots too, so that the row can be locked or written
  /// after a sort or hash join, when the scan has moved on.
  void keep_identity(Slot key_slot, Slot row_slot) {
    identity_ = Identity{key_slot, row_slot, std::nullopt};
  }
  /// Stores the row's hidden id in a slot as well. Pre: keep_identity() was called.
  void show_row_id(Slot slot) { identity_->row_id = slot; }
  /// Sets the wait policy of reads that lock at SERIALIZABLE, when another transaction has locked
  /// the row.
  virtual void set_wait(WaitPolicy wait) noexcept { wait_ = wait; }
  /// Returns the access of the row in the slots: of a partitioned table, its partition's.
  [[nodiscard]] virtual TableAccess& of_row(const Execution& /*execution*/) noexcept {
    return *this;
  }
  [[nodiscard]] bool keeps_identity() const noexcept { return identity_.has_value(); }
  [[nodiscard]] Slot key_slot() const noexcept { return identity_->key; }
  [[nodiscard]] Slot row_slot() const noexcept { return identity_->row; }

  /// Locks the row whose identity is in the slots and reads its newest version into the slots if it
  /// has changed. Pre: keep_identity() was called.
  enum class Locked : std::uint8_t { unchanged, changed, gone };
  Locked lock_row(Execution& execution, ReadMode mode, WaitPolicy wait);
  /// Decodes an encoded row into the slots.
  void show(Execution& execution, Value row) const;
  /// The newest version after lock_row(), until the next call.
  [[nodiscard]] Bytes locked_row() const noexcept { return locked_.bytes(); }

  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] std::string_view scanned_relation() const noexcept override { return alias_; }

  /// Decodes all columns, for writers: fills `values` with one value per column.
  void read_row(Bytes row, std::span<Value> values) const;

  /// Conditions that the access path has applied itself (Index Cond in EXPLAIN).
  std::string condition_text;

 protected:
  void decode(Execution& execution, Bytes row) const;
  /// Pre: key() is the row's key.
  void found(Execution& execution, Bytes row) const;
  [[nodiscard]] std::string table_title() const;
  struct ScanCounts {
    std::uint64_t rows = 0;
    std::uint64_t table_leaves = 0;
    std::uint64_t index_leaves = 0;  ///< of an index that is not the table
  };
  /// Adds a scan to the statistics of the table, and of the index if one was used.
  void note_scan(const IndexAccess* index, const ScanCounts& counts) const noexcept;

  TablePtr table_;                       // NOLINT: shared with the derived operators
  std::optional<Tree> tree_;             // NOLINT: none of a partitioned table
  std::string alias_;                    // NOLINT
  Planned<std::vector<Wanted>> wanted_;  // NOLINT
  std::string key_;                      // NOLINT
  WaitPolicy wait_ = WaitPolicy::wait;   // NOLINT

  /// Returns the result of a read or throws its error. The error of NOWAIT names the table.
  template <class T>
  T found_or_fail(Result<T> result, WaitPolicy wait) const {
    if (!result && wait == WaitPolicy::no_wait) fail_if_locked(result.error());
    return value_of(std::move(result));
  }

 private:
  bool follow(Execution& execution, ReadMode mode, WaitPolicy wait, bool& found);
  void fail_if_locked(const Error& error) const;
  struct Identity {
    Slot key;
    Slot row;
    std::optional<Slot> row_id;
  };
  std::optional<Identity> identity_;
  ValueBuffer locked_;
  ValueBuffer moved_to_;
};

/// True if the index stands for the table's hidden row ids (Table::row_ids).
[[nodiscard]] inline bool is_row_id_index(const Table& table, const IndexAccess* index) noexcept {
  return index != nullptr && table.row_ids && index == &*table.row_ids;
}

/// Bounds of an index scan: equal values for the first columns, then perhaps a range of the next
/// one, or several.
struct IndexBounds {
  const IndexAccess* index = nullptr;
  std::vector<ExprPtr> equal;
  /// For = ANY (array) on the column after `equal`: one range per distinct element.
  ExprPtr any_of;
  ExprPtr low;
  ExprPtr high;
  ScanRange::Bound low_bound = ScanRange::Bound::inclusive;
  ScanRange::Bound high_bound = ScanRange::Bound::inclusive;
  bool not_null = false;    ///< of the column after those that are equal
  bool only_index = false;  ///< index-only scan: all columns read are in the index
  bool any_order = false;   ///< the rows' order is free
  /// A disjunction over the column after `equal`: ranges that may overlap.
  struct Alternative {
    ExprPtr equal;
    ExprPtr low;
    ExprPtr high;
    ScanRange::Bound low_bound = ScanRange::Bound::inclusive;
    ScanRange::Bound high_bound = ScanRange::Bound::inclusive;
  };
  std::vector<Alternative> alternatives;
  /// Name of the operator between the column of a range-type index and the value. The rows found
  /// are checked again.
  std::string range_operator = {};
  ExprPtr of_range = nullptr;

  void for_each_expression(const std::function<void(ExprPtr&)>& visit);
};

/// Appends the values for the first columns; false when one is NULL, which equals nothing.
bool append_equal(std::string& key, const IndexBounds& bounds, Execution& execution);

/// One row by its whole key: the primary key, or a unique index.
class PointAccess final : public TableAccess {
 public:
  PointAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted, IndexBounds bounds,
              ReadMode mode);
  PointAccess(const PointAccess& of, StepCopies& copies)
      : TableAccess(of, copies), bounds_(of.bounds_), mode_(of.mode_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<PointAccess>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override {}
  [[nodiscard]] Bytes row() const noexcept override { return row_.bytes(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    bounds_.change().for_each_expression(visit);
  }

 private:
  Planned<IndexBounds> bounds_;
  ReadMode mode_;
  std::string index_key_;
  ValueBuffer index_value_;
  ValueBuffer row_;
  bool done_ = true;
};

}  // namespace swizzle::sql
