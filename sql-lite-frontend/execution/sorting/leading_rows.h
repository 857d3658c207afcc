#pragma once

#include <vector>

#include "sql-lite-frontend/execution/rows/sort_head.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/planned.h"
#include "sql-lite-frontend/query/bound/value_table.h"

namespace swizzle::sql {

/// Filters rows that are about to be sorted, and numbered within their partitions: it passes those
/// that may have a wanted number. A row is dropped when as many rows as are wanted of its partition
/// have come that stand before it. Some of the passed rows may turn out not to be wanted either.
///
/// It keeps the sort heads of as many rows of each partition; if that takes too much memory, or is
/// of no use, it lets all rows through.
class LeadingRows final : public PlanOperator {
 public:
  /// `last_number`: no row of a higher number is wanted. Pre: there are partition keys and an
  /// order.
  LeadingRows(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
              ExprPtr last_number);
  LeadingRows(const LeadingRows& of, StepCopies& copies);

  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<LeadingRows>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override;

 private:
  bool may_lead(Execution& execution);
  [[nodiscard]] bool is_worth_it(const Execution& execution) const;
  void let_all_through();

  PlanPtr input_;
  Planned<std::vector<SortKey>> partition_;
  Planned<std::vector<SortKey>> order_;
  Planned<ExprPtr> last_number_;
  SortHead head_;

  // Of the run.
  std::size_t wanted_ = 0;  ///< of each partition; 0: all
  ValueTable partitions_;
  CountedVector<std::uint32_t> counts_;  ///< per partition, at most wanted_
  CountedVector<std::uint64_t> heads_;   ///< per partition room for wanted_, a heap
  std::size_t seen_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace swizzle::sql
