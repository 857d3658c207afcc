#pragma once

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/planned.h"

namespace swizzle::sql {

/// A computed relation: its rows, or those with the key, are made when it opens and kept for the
/// statement.
class ComputedScan final : public PlanOperator {
 public:
  struct Wanted {
    std::size_t position;
    Slot slot;
  };
  /// Value that a column has in all rows that are wanted.
  struct Key {
    std::size_t position = 0;
    ExprPtr value;            ///< null: there is no such column
    bool reads_rows = false;  ///< of other steps: the rows are made each time that the step opens
  };
  ComputedScan(TablePtr table, std::string alias, std::vector<Wanted> wanted, Planned<Key> key);
  ComputedScan(const ComputedScan& of, StepCopies& /*copies*/)
      : ComputedScan(of.table_, of.alias_, of.wanted_, of.key_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<ComputedScan>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override {}
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::string_view scanned_relation() const noexcept override { return alias_; }

 private:
  TablePtr table_;
  std::string alias_;
  std::vector<Wanted> wanted_;
  Planned<Key> key_;
  RowStore rows_;
  std::uint64_t filled_in_run_ = 0;
  std::size_t position_ = 0;
};

}  // namespace swizzle::sql
