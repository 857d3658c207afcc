#pragma once

#include "sql-lite-frontend/execution/rows/row_sorter.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Stable sort. With a bound n, a heap of the first n rows is enough (top-N sort).
class Sort final : public PlanOperator {
 public:
  Sort(PlanPtr input, std::vector<SortKey> keys);
  /// Sets the bound from the LIMIT above; either may be null. The Limit node owns the expressions.
  void set_bound(const Expr* count, const Expr* offset) {
    bound_count_ = count;
    bound_offset_ = offset;
  }
  Sort(const Sort& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Sort>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override { return sorter_.next(execution); }
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return {"Sort", {{"Sort Key", describe(*keys_, columns)}}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(keys_, visit);
  }

 private:
  [[nodiscard]] std::size_t bound(Execution& execution) const;

  PlanPtr input_;
  Planned<std::vector<SortKey>> keys_;
  RowSorter sorter_;
  const Expr* bound_count_ = nullptr;
  const Expr* bound_offset_ = nullptr;
};

}  // namespace swizzle::sql
