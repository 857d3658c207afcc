#pragma once

#include <vector>

#include "sql-lite-frontend/execute/operator.h"
#include "sql-lite-frontend/execute/table_access.h"

namespace swizzle::sql {

/// FOR UPDATE and its weaker forms: locks the rows it passes on. A row that changed before the lock
/// was there is looked at again in its newest version: it must still fulfil `recheck`. FOR KEY
/// SHARE at REPEATABLE READ lets it have changed and passes on what the snapshot shows.
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
  LockRows(PlanPtr input, std::vector<Target> targets, std::vector<ExprPtr> recheck,
           std::vector<Recomputed> recomputed)
      : input_(std::move(input)),
        targets_(std::move(targets)),
        recheck_(std::move(recheck)),
        recomputed_(std::move(recomputed)) {}
  void open(Execution& execution) override { input_->open(execution); }
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
    visit_each(recheck_, visit);
  }

 private:
  enum class Outcome : std::uint8_t { unchanged, changed, gone };
  Outcome lock_all(Execution& execution);
  bool lock(Execution& execution);

  PlanPtr input_;
  std::vector<Target> targets_;
  std::vector<ExprPtr> recheck_;
  std::vector<Recomputed> recomputed_;
  std::vector<Value> before_;  ///< per target: the row as it was found
};

}  // namespace swizzle::sql
