#pragma once

#include "sql-lite-frontend/execution/rows/held_row.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"

namespace swizzle::sql {

class Materialize;

/// Base class of all join methods: two inputs, the join conditions, and the result for outer rows
/// with and without a match.
///
/// A derived class finds an outer row's matches and adds state for its join kinds.
class JoinOperator : public PlanOperator {
 public:
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {outer_.get(), inner_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    visit(outer_);
    visit(inner_);
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(conditions_, visit);
  }

 protected:
  JoinOperator(JoinKind kind, PlanPtr outer, PlanPtr inner, std::vector<ExprPtr> conditions);
  JoinOperator(const JoinOperator& of, StepCopies& copies);

  [[nodiscard]] JoinKind kind() const noexcept { return kind_; }
  [[nodiscard]] PlanOperator& outer() noexcept { return *outer_; }
  [[nodiscard]] PlanOperator& inner() noexcept { return *inner_; }
  [[nodiscard]] const std::vector<Slot>& outer_slots() const noexcept { return outer_row_.slots(); }
  [[nodiscard]] const std::vector<Slot>& inner_slots() const noexcept { return inner_slots_; }
  /// True if outer (or inner) rows without a match are among the join's rows.
  [[nodiscard]] bool keeps_outer() const noexcept {
    return kind_ == JoinKind::left || kind_ == JoinKind::full || kind_ == JoinKind::anti;
  }
  [[nodiscard]] bool keeps_inner() const noexcept {
    return kind_ == JoinKind::right || kind_ == JoinKind::full || kind_ == JoinKind::right_anti;
  }
  /// True if the join's rows are rows of one side alone, and each at most once.
  [[nodiscard]] bool decides_outer() const noexcept {
    return kind_ == JoinKind::semi || kind_ == JoinKind::anti;
  }
  [[nodiscard]] bool decides_inner() const noexcept {
    return kind_ == JoinKind::right_semi || kind_ == JoinKind::right_anti;
  }
  [[nodiscard]] bool has_conditions() const noexcept { return !conditions_.empty(); }
  /// True if the inner row in its slots matches the outer row.
  [[nodiscard]] bool matches(Execution& execution) const;
  void set_null(Execution& execution, std::span<const Slot> slots) const;

  void close_inputs();
  /// Makes next_with_outer() read the next outer row.
  void leave_outer_row() noexcept { in_outer_row_ = false; }
  /// The next row of the join that has an outer row; false after the last of them. `join` has
  ///   bool next_outer(Execution&)   reads the next outer row into its slots
  ///   void come_to(Execution&)      begins to look for its matches
  ///   bool next_match(Execution&)   puts the next inner row that matches into its slots
  template <class Join>
  bool next_with_outer(Join& join, Execution& execution);

  /// Describes the node for EXPLAIN: "Hash Left Join", with the conditions as its filter.
  [[nodiscard]] PlanNote note_of(std::string method, ExprPrinter::Columns columns) const;
  /// The same, with the pairs of equal keys.
  [[nodiscard]] PlanNote note_of(std::string method, ExprPrinter::Columns columns,
                                 std::string keys_name, std::span<const ExprPtr> outer_keys,
                                 std::span<const ExprPtr> inner_keys) const;

 private:
  JoinKind kind_;
  PlanPtr outer_;
  PlanPtr inner_;
  Planned<std::vector<ExprPtr>> conditions_;
  std::vector<Slot> inner_slots_;
  HeldRow outer_row_;
  bool in_outer_row_ = false;
  bool matched_ = false;
};

template <class Join>
bool JoinOperator::next_with_outer(Join& join, Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  for (;;) {
    if (!in_outer_row_) {
      execution.row_arena.rewind(mark);
      if (!outer_row_.next(execution, [&] { return join.next_outer(execution); })) return false;
      join.come_to(execution);
      in_outer_row_ = true;
      matched_ = false;
    }
    if (join.next_match(execution)) {
      matched_ = true;
      // Semi and anti joins need only the first match.
      if (decides_outer()) in_outer_row_ = false;
      if (kind_ == JoinKind::anti || kind_ == JoinKind::right_anti) continue;
      return true;
    }
    in_outer_row_ = false;
    if (!matched_ && keeps_outer()) {
      set_null(execution, inner_slots_);
      return true;
    }
  }
}

/// For every outer row, opens the inner side anew: it may read the outer row's slots, which makes
/// it an index lookup or a lateral subquery. Not for right and full joins.
class NestedLoop final : public JoinOperator {
 public:
  NestedLoop(JoinKind kind, PlanPtr outer, PlanPtr inner, std::vector<ExprPtr> conditions)
      : JoinOperator(kind, std::move(outer), std::move(inner), std::move(conditions)) {}
  /// Makes open() discard the rows that the inner side `kept` has materialized. Pre: `kept` reads
  /// no outer row of this join.
  void forget_when_opened(Materialize& kept) noexcept { kept_ = &kept; }
  NestedLoop(const NestedLoop& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<NestedLoop>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override { return next_with_outer(*this, execution); }
  void close() override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;

 private:
  friend JoinOperator;
  bool next_outer(Execution& execution) { return outer().next(execution); }
  void come_to(Execution& execution) { inner().open(execution); }
  bool next_match(Execution& execution);

  Materialize* kept_ = nullptr;
};

}  // namespace swizzle::sql
