#pragma once

#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Returns the rows of its input if conditions that do not depend on them hold at open().
class Gate final : public PlanOperator {
 public:
  Gate(PlanPtr input, std::vector<ExprPtr> conditions)
      : input_(std::move(input)), conditions_(std::move(conditions)) {}
  Gate(const Gate& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), conditions_(of.conditions_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Gate>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override { return is_open_ && input_->next(execution); }
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return {"Result", {{"One-Time Filter", describe(*conditions_, columns)}}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(conditions_, visit);
  }

 private:
  PlanPtr input_;
  Planned<std::vector<ExprPtr>> conditions_;
  bool is_open_ = false;
};

}  // namespace swizzle::sql
