#pragma once

#include <vector>

#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// FOR UPDATE and its weaker forms: locks the rows it passes on. A row that changed before the lock
/// was acquired is read again in its newest version: it must still fulfil `recheck`. FOR KEY SHARE
/// at REPEATABLE READ accepts such a change and passes on the snapshot's version.
class LockRows final : public PlanOperator {
 public:
  struct Target {
    TableAccess* access;
    ReadMode mode;
    WaitPolicy wait;
  };
  struct Recomputed {
    Slot slot;
    const Expr* expr;
  };
  /// Conditions and targets to evaluate again for a row that changed, from the innermost query and
  /// join on.
  struct Recheck {
    std::vector<ExprPtr> conditions;
    /// True for an outer join: if the conditions do not hold, its other side has no row.
    bool is_outer_join = false;
    std::vector<Slot> other_side;
    /// Targets that a query computes for the rows that fulfil the conditions.
    std::vector<Recomputed> recomputed;
  };
  LockRows(PlanPtr input, std::vector<Target> targets, std::vector<Recheck> rechecks)
      : input_(std::move(input)), targets_(std::move(targets)), rechecks_(std::move(rechecks)) {}
  LockRows(const LockRows& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), rechecks_(of.rechecks_) {
    for (const Target& target : of.targets_) {
      targets_.push_back({copies.copy_of(target.access), target.mode, target.wait});
    }
  }
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<LockRows>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"LockRows", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Recheck& recheck : rechecks_.change()) visit_each(recheck.conditions, visit);
  }

 private:
  enum class Outcome : std::uint8_t { unchanged, changed, gone };
  Outcome lock_all(Execution& execution);
  bool lock(Execution& execution);
  bool still_fits(Execution& execution);
  void show_as_found(Execution& execution);

  PlanPtr input_;
  std::vector<Target> targets_;
  Planned<std::vector<Recheck>> rechecks_;
  std::vector<Value> before_;  ///< per target: the row as it was found
};

}  // namespace swizzle::sql
