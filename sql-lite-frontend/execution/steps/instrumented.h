#pragma once

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Measures a plan node for EXPLAIN ANALYZE: time, rows and leaves, including those of its inputs.
class Instrumented final : public PlanOperator {
 public:
  enum class Clock : std::uint8_t { off, on };
  Instrumented(PlanPtr step, Clock clock);
  /// Copies only the measured node: measurements belong to a plan that is not shared.
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override;
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override { step_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return step_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return step_->note(columns);
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return step_->children();
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override { return step_->measured(); }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    step_->for_each_input(visit);
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    step_->for_each_expression(visit);
  }
  [[nodiscard]] std::string_view scanned_relation() const noexcept override {
    return step_->scanned_relation();
  }
  [[nodiscard]] bool is_shown() const noexcept override { return step_->is_shown(); }

  [[nodiscard]] PlanOperator& step() const noexcept { return *step_; }
  struct Measured {
    std::uint64_t loops = 0;
    std::uint64_t rows = 0;
    std::uint64_t leaves = 0;
    Duration until_first_row{};
    Duration total{};
  };
  [[nodiscard]] const Measured& run() const noexcept { return run_; }

  /// Wraps each plan node that EXPLAIN shows, including those of subqueries and WITH queries.
  static void put_over(PlanPtr& root, Clock clock);

 private:
  class Span;

  PlanPtr step_;
  Clock clock_;
  Measured run_;
  bool is_first_ = false;
  Duration before_first_{};
};

}  // namespace swizzle::sql
