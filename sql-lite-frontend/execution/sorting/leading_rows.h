#pragma once

#include <vector>

#include "sql-lite-frontend/execution/rows/sort_head.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/planned.h"
#include "sql-lite-frontend/query/bound/value_table.h"

namespace swizzle::sql {

/// Filter below the sort of a query that wants only rows with low row numbers in their partitions:
/// drops a row if enough rows of its partition that sort before it have already come. Some of the
/// rows passed on may still turn out to be unwanted.
///
/// Stores the sort heads of the leading rows of each partition. If they take too much memory, or
/// few rows are dropped, passes on all rows.
class LeadingRows final : public PlanOperator {
 public:
  /// `last_number`: rows with higher numbers are not wanted. Pre: there are partition keys and an
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
  std::size_t wanted_ = 0;  ///< leading rows per partition; 0: all
  ValueTable partitions_;
  CountedVector<std::uint32_t> counts_;  ///< per partition, at most wanted_
  CountedVector<std::uint64_t> heads_;   ///< per partition room for wanted_, a heap
  std::size_t seen_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace swizzle::sql
