#pragma once

#include <cstdint>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"

namespace swizzle::sql {

/// TABLESAMPLE: passes on a random part of a sequential scan's rows. A hash of the seed and of the
/// row's position in the scan decides, so that REPEATABLE returns the same rows of an unchanged
/// table.
class SampleRows final : public PlanOperator {
 public:
  SampleRows(PlanPtr input, TableSample sample)
      : input_(std::move(input)), sample_(std::move(sample)) {}
  SampleRows(const SampleRows& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<SampleRows>(*this, copies);
  }
  /// Throws SqlError 2202H for an invalid percentage and 2202G for an invalid seed.
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  /// The step itself is not shown: EXPLAIN shows the sample at its scan.
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return input_->children();
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override { return input_->measured(); }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override;
  [[nodiscard]] bool is_shown() const noexcept override { return false; }
  [[nodiscard]] std::string_view scanned_relation() const noexcept override {
    return input_->scanned_relation();
  }

 private:
  [[nodiscard]] bool is_taken(std::uint64_t place) const noexcept;

  PlanPtr input_;
  Planned<TableSample> sample_;
  std::uint64_t seed_ = 0;
  std::uint64_t seed_run_ = 0;  ///< run for which `seed_` was drawn
  std::uint64_t limit_ = 0;     ///< rows with a lower hash are taken
  std::uint64_t place_ = 0;
};

}  // namespace swizzle::sql
