#pragma once

#include <vector>

#include "sql-lite-frontend/execution/grouping/window.h"
#include "sql-lite-frontend/execution/sorting/sort_operators.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/planned.h"

namespace swizzle::sql {

/// row_number, rank and dense_rank over one window. Their results depend only on earlier rows, so
/// rows, sorted by partition and order, are passed on without being stored.
class RankRows final : public PlanOperator {
 public:
  RankRows(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
           std::vector<WindowCall> calls, std::vector<RankCondition> wanted);
  RankRows(const RankRows& of, StepCopies& copies);
  /// True if all calls are of these three functions.
  static bool can_give(std::span<const WindowCall> calls) noexcept;

  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<RankRows>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override;

 private:
  void count(Execution& execution);
  bool is_wanted(Execution& execution);

  PlanPtr input_;
  Planned<std::vector<SortKey>> partition_;
  Planned<std::vector<SortKey>> order_;
  Planned<std::vector<WindowCall>> calls_;
  Planned<std::vector<RankCondition>> wanted_;
  RowComparison same_partition_;
  RowComparison same_order_;
  bool asks_order_ = false;  ///< row_number alone does not

  // Of the run.
  bool ended_ = false;
  std::int64_t row_number_ = 0;
  std::int64_t rank_ = 0;
  std::int64_t dense_rank_ = 0;
  std::vector<bool> held_;   ///< per condition, in this partition
  std::vector<Value> keys_;  ///< of the last row: partition keys, then order keys
  std::vector<Value> new_keys_;
  Arena keys_arena_;
};

}  // namespace swizzle::sql
