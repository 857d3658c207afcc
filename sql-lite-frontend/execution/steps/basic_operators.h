#pragma once

#include <optional>

#include "sql-lite-frontend/execution/rows/held_row.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"
#include "sql-lite-frontend/query/bound/routine_call.h"

namespace swizzle::sql {

/// One row without columns: SELECT without FROM.
class OneRow final : public PlanOperator {
 public:
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& /*copies*/) const override {
    return std::make_unique<OneRow>();
  }
  void open(Execution&) override { done_ = false; }
  bool next(Execution&) override { return !std::exchange(done_, true); }
  void close() override {}
  [[nodiscard]] std::vector<Slot> output_slots() const override { return {}; }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Result", {}};
  }

 private:
  bool done_ = true;
};

class Filter final : public PlanOperator {
 public:
  Filter(PlanPtr input, std::vector<ExprPtr> conditions)
      : input_(std::move(input)), conditions_(std::move(conditions)) {}
  Filter(const Filter& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), conditions_(of.conditions_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Filter>(*this, copies);
  }
  void open(Execution& execution) override {
    removed_ = 0;
    input_->open(execution);
  }
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  /// EXPLAIN shows the filter at its input.
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return input_->children();
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(conditions_, visit);
  }
  [[nodiscard]] bool is_shown() const noexcept override { return false; }
  [[nodiscard]] std::string_view scanned_relation() const noexcept override {
    return input_->scanned_relation();
  }

 private:
  PlanPtr input_;
  Planned<std::vector<ExprPtr>> conditions_;
  std::uint64_t removed_ = 0;
};

/// Computes expressions into slots.
class Project final : public PlanOperator {
 public:
  using Computed = ComputedSlot;
  Project(PlanPtr input, std::vector<Computed> computed)
      : input_(std::move(input)), computed_(std::move(computed)) {}
  Project(const Project& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), computed_(of.computed_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Project>(*this, copies);
  }
  void open(Execution& execution) override { input_->open(execution); }
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override {
    return input_->note(columns);
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return input_->children();
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override { return input_->measured(); }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Computed& computed : computed_.change()) visit(computed.expr);
  }
  [[nodiscard]] bool is_shown() const noexcept override { return false; }
  [[nodiscard]] std::string_view scanned_relation() const noexcept override {
    return input_->scanned_relation();
  }

 private:
  PlanPtr input_;
  Planned<std::vector<Computed>> computed_;
};

/// Set-returning functions in the select list: one row per element, NULLs after a shorter one ends.
class ProjectSet final : public PlanOperator {
 public:
  using Item = SetItem;
  ProjectSet(PlanPtr input, std::vector<Item> items);
  ProjectSet(const ProjectSet& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), items_(of.items_), row_(of.row_.slots()) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<ProjectSet>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"ProjectSet", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Item& item : items_.change()) visit_each(item.arguments, visit);
  }

 private:
  PlanPtr input_;
  Planned<std::vector<Item>> items_;
  std::vector<std::unique_ptr<SetCursor>> cursors_;
  Arena arguments_arena_;
  HeldRow row_;
  bool in_row_ = false;
};

class Limit final : public PlanOperator {
 public:
  /// Either may be null. WITH TIES needs the sort's keys and an input ordered by them.
  Limit(PlanPtr input, ExprPtr count, ExprPtr offset, std::vector<ExprPtr> ties)
      : input_(std::move(input)),
        count_(std::move(count)),
        offset_(std::move(offset)),
        ties_(std::move(ties)) {}
  Limit(const Limit& of, StepCopies& copies)
      : input_(copies.copy(of.input_)), count_(of.count_), offset_(of.offset_), ties_(of.ties_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Limit>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override { input_->close(); }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Limit", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    if (*count_) visit(count_.change());
    if (*offset_) visit(offset_.change());
  }

 private:
  bool is_tie(Execution& execution);
  std::string tie_key(Execution& execution) const;

  PlanPtr input_;
  Planned<ExprPtr> count_;
  Planned<ExprPtr> offset_;
  Planned<std::vector<ExprPtr>> ties_;
  std::optional<std::uint64_t> left_;
  std::uint64_t to_skip_ = 0;
  std::string last_key_;
};

/// The inputs' rows one after the other; each leaves its columns in its own slots, from where they
/// are copied to the common ones.
class Append final : public PlanOperator {
 public:
  struct Branch {
    PlanPtr input;
    std::vector<Slot> slots;
  };
  Append(std::vector<Branch> branches, std::vector<Slot> outputs)
      : branches_(std::move(branches)), outputs_(std::move(outputs)) {}
  Append(const Append& of, StepCopies& copies) : outputs_(of.outputs_) {
    for (const Branch& branch : of.branches_) {
      branches_.push_back({copies.copy(branch.input), branch.slots});
    }
  }
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Append>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return outputs_; }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Append", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    for (Branch& branch : branches_) visit(branch.input);
  }
  /// For callers that append more.
  [[nodiscard]] std::vector<Branch> take_branches() noexcept { return std::move(branches_); }

 private:
  std::vector<Branch> branches_;
  std::vector<Slot> outputs_;
  std::size_t current_ = 0;
};

/// VALUES lists.
class ValuesScan final : public PlanOperator {
 public:
  ValuesScan(std::vector<std::vector<ExprPtr>> rows, std::vector<Slot> slots)
      : rows_(std::move(rows)), slots_(std::move(slots)) {}
  ValuesScan(const ValuesScan& of, StepCopies& /*copies*/)
      : rows_(of.rows_), slots_(of.slots_), width_(of.width_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<ValuesScan>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override {}
  /// Repeats its one row for each `width` of the parameters, which are those of many rows.
  void repeat(std::size_t width) noexcept { width_ = width; }
  [[nodiscard]] std::vector<Slot> output_slots() const override { return slots_; }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Values Scan on \"*VALUES*\"", {}};
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (std::vector<ExprPtr>& row : rows_.change()) visit_each(row, visit);
  }
  [[nodiscard]] std::size_t row_count() const noexcept { return rows_.size(); }

 private:
  bool next_given(Execution& execution);

  Planned<std::vector<std::vector<ExprPtr>>> rows_;
  std::vector<Slot> slots_;
  std::size_t width_ = 0;  ///< 0: nothing is repeated
  std::span<const Value> given_;
  std::size_t current_ = 0;
};

/// Functions in FROM; several are ROWS FROM, side by side.
class FunctionScan final : public PlanOperator {
 public:
  using Call = FromCall;
  FunctionScan(std::vector<Call> calls, std::optional<Slot> ordinality, std::string alias);
  FunctionScan(const FunctionScan& of, StepCopies& /*copies*/)
      : calls_(of.calls_),
        ordinality_(of.ordinality_),
        alias_(of.alias_),
        keeps_rows_(of.keeps_rows_),
        running_(of.running_.size()) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<FunctionScan>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::string_view scanned_relation() const noexcept override { return alias_; }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Call& call : calls_.change()) {
      visit_each(call.arguments, visit);
      if (call.scalar) visit(call.scalar);
    }
  }

 private:
  struct Running {
    std::unique_ptr<SetCursor> cursor;
    bool scalar_pending = false;
    bool null_pending = false;
    std::unique_ptr<RowStore> kept = nullptr;
    std::uint64_t kept_in_run = 0;
    std::size_t next_kept = 0;
  };
  void start(Execution& execution, std::size_t call);
  bool next_of(Execution& execution, std::size_t call);
  bool next_new(Execution& execution, std::size_t call);

  Planned<std::vector<Call>> calls_;
  std::optional<Slot> ordinality_;
  std::string alias_;
  /// Calls beside others that read no row outside: called once in a run, however often the others
  /// are called again.
  std::vector<bool> keeps_rows_;
  std::vector<Running> running_;
  Arena arguments_arena_;
  std::int64_t row_ = 0;
};

/// Reads its input once and then repeats it: CTEs, and the inner side of loops that do not change.
class Materialize final : public PlanOperator {
 public:
  explicit Materialize(PlanPtr input) : input_(std::move(input)) {}
  /// Reads its input anew when it is opened next.
  void forget() noexcept { filled_in_run_ = 0; }
  Materialize(const Materialize& of, StepCopies& copies) : input_(copies.copy(of.input_)) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Materialize>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"Materialize", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }

 private:
  PlanPtr input_;
  RowStore store_{RowStore::Overflow::to_file_of_run};
  std::uint64_t filled_in_run_ = 0;
  std::size_t position_ = 0;
};

}  // namespace swizzle::sql
