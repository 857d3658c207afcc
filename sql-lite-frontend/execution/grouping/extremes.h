#pragma once

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// min() and max() by index: one row, each value of which is the first row of a subplan, or NULL if
/// it has none.
class Extremes final : public PlanOperator {
 public:
  struct Part {
    PlanPtr plan;
    Planned<ExprPtr> value;
    Slot slot;
  };
  explicit Extremes(std::vector<Part> parts) : parts_(std::move(parts)) {}
  Extremes(const Extremes& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Extremes>(*this, copies);
  }
  void open(Execution&) override { done_ = false; }
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Result", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    for (Part& part : parts_) visit(part.plan);
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Part& part : parts_) visit(part.value.change());
  }

 private:
  std::vector<Part> parts_;
  bool done_ = true;
};

}  // namespace swizzle::sql
