#pragma once

#include <memory>
#include <vector>

#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

struct Cte;

/// The rows of a WITH query, which runs when its first reader opens.
class CteScan final : public PlanOperator {
 public:
  enum class Reads : std::uint8_t { result, working_table };
  CteScan(std::shared_ptr<Cte> cte, std::vector<Slot> slots, Reads reads, std::string alias)
      : cte_(reads == Reads::working_table ? inside(*cte) : std::move(cte)),
        slots_(std::move(slots)),
        reads_working_table_(reads == Reads::working_table),
        alias_(std::move(alias)) {}
  CteScan(const CteScan& of, StepCopies& copies)
      : cte_(copies.copy_of(of.cte_)),
        slots_(of.slots_),
        reads_working_table_(of.reads_working_table_),
        alias_(of.alias_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<CteScan>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return slots_; }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::string_view scanned_relation() const noexcept override { return alias_; }
  [[nodiscard]] Cte& cte() const noexcept { return *cte_; }

 private:
  /// For the plan nodes of the WITH query itself, which it owns.
  static std::shared_ptr<Cte> inside(Cte& cte) {
    return std::shared_ptr<Cte>{std::shared_ptr<void>{}, &cte};
  }

  std::shared_ptr<Cte> cte_;
  std::vector<Slot> slots_;
  bool reads_working_table_;
  std::string alias_;
  std::size_t position_ = 0;
  bool is_open_ = false;
};

/// Runs data-modifying WITH queries before its input, even if nothing reads them, and restarts
/// those that depend on outer slots.
class EagerCtes final : public PlanOperator {
 public:
  EagerCtes(PlanPtr input, std::vector<std::shared_ptr<Cte>> ctes,
            std::vector<std::shared_ptr<Cte>> correlated)
      : input_(std::move(input)), ctes_(std::move(ctes)), correlated_(std::move(correlated)) {}
  EagerCtes(const EagerCtes& of, StepCopies& copies)
      : input_(copies.copy(of.input_)),
        ctes_(copies.copy_of(of.ctes_)),
        correlated_(copies.copy_of(of.correlated_)) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<EagerCtes>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override { return input_->next(execution); }
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return input_->note(columns);
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return input_->children();
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override { return input_->measured(); }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  [[nodiscard]] bool is_shown() const noexcept override { return false; }
  [[nodiscard]] std::string_view scanned_relation() const noexcept override {
    return input_->scanned_relation();
  }
  [[nodiscard]] const std::vector<std::shared_ptr<Cte>>& ctes() const noexcept { return ctes_; }

 private:
  PlanPtr input_;
  std::vector<std::shared_ptr<Cte>> ctes_;
  std::vector<std::shared_ptr<Cte>> correlated_;
};

}  // namespace swizzle::sql
