#pragma once

#include <optional>

#include "sql-lite-frontend/execution/rows/row_partitions.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// DISTINCT by hashing: returns the first row of each distinct combination, in input order.
/// Combinations beyond the hash memory limit are spilled to temporary files and returned later.
class Distinct final : public PlanOperator {
 public:
  Distinct(PlanPtr input, std::vector<ExprPtr> keys);
  Distinct(const Distinct& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), keys_(of.keys_), slots_(of.slots_), writer_(of.writer_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Distinct>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return {"HashAggregate", {{"Group Key", describe_list(*keys_, columns)}}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override { return {usage_.measure()}; }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(keys_, visit);
  }

 private:
  /// Reads the next row of the input, or of a spilled part.
  bool next_row(Execution& execution);
  bool is_new(Execution& execution);

  PlanPtr input_;
  Planned<std::vector<ExprPtr>> keys_;
  std::vector<Slot> slots_;
  KeyWriter writer_;
  KeyTable seen_;
  RowPartitions later_;
  std::optional<RowPartitions::Part> part_;
  HashUsage usage_;
};

/// DISTINCT ON over sorted input: the first row of each run of equal keys.
class Unique final : public PlanOperator {
 public:
  Unique(PlanPtr input, std::vector<ExprPtr> keys);
  Unique(const Unique& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), keys_(of.keys_), writer_(of.writer_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Unique>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Unique", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(keys_, visit);
  }

 private:
  PlanPtr input_;
  Planned<std::vector<ExprPtr>> keys_;
  KeyWriter writer_;
  std::string last_;
  bool any_ = false;
};

}  // namespace swizzle::sql
