#pragma once

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Query inside an expression: scalar, EXISTS, IN / op ANY / op ALL, (a, b) = (…), ARRAY(…). It
/// runs in the frame of the statement, so it reads outer variables directly.
class SubqueryExpr final : public Expr {
 public:
  /// `arrays`: an array with one dimension more than the subquery's arrays.
  enum class Kind : std::uint8_t { scalar, exists, any, all, row, array, arrays };
  /// Dependence of the result on slots outside; without one, one run per execution is enough.
  enum class Correlation : std::uint8_t { none, outer };

  SubqueryExpr(Kind kind, TypeId type, std::int32_t typmod) : Expr(type, typmod), kind_(kind) {}

  /// `number`: among the statement's subqueries, from 1, for EXPLAIN. `place`: of its state.
  void set_place(int number, StatePlace place, Correlation correlation) {
    number_ = number;
    place_ = place;
    correlation_ = correlation;
  }
  /// Sets its plan. Defined with its other run-time functions, in execution/steps/subquery.cpp:
  /// without a plan it cannot be evaluated.
  void set_plan(PlanPtr plan, std::vector<Slot> outputs);
  /// For any, all and row: the comparison of `left` with the subquery's output slots. With
  /// `hash_left`, left operands in the outputs' types, IN can use a hash table.
  void set_comparison(ExprPtr comparison, std::vector<ExprPtr> hash_left);
  /// Sets the text of the subquery in the statement: subqueries of one clause with the same text
  /// are equal.
  void set_signature(std::string signature) { signature_ = std::move(signature); }
  /// Slots for the further columns of a scalar subquery, set each time it runs.
  void set_further_columns(std::vector<Slot> slots) { further_ = std::move(slots); }

  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  void for_each_operand(const std::function<void(ExprPtr&)>& visit) override;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// For the planner, which turns it into a join; null unless set_comparison() was called.
  [[nodiscard]] ExprPtr& comparison() noexcept { return comparison_; }
  [[nodiscard]] PlanPtr& plan() noexcept { return plan_; }
  /// True if its value is computed once and kept for the whole execution.
  [[nodiscard]] bool is_initial() const noexcept;
  /// True if the rows of one run are compared with many rows of the enclosing query, one after the
  /// other.
  [[nodiscard]] bool is_read_again() const noexcept;
  /// Returns PostgreSQL's name: "SubPlan 1" or "InitPlan 1 (returns $0)".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Correlation correlation() const noexcept { return correlation_; }
  /// Expires with the expression. The binder and the planner may drop an expression with a
  /// subquery: one that equals another, or is in a WITH query that is not read.
  [[nodiscard]] std::weak_ptr<const void> life() const noexcept { return life_; }
  /// Slots outside that the subquery reads; an expression that contains it depends on them.
  std::vector<Slot> outer_slots;

 private:
  struct Run;
  Value run(Execution& execution) const;
  Run& run_in(Execution& execution) const;
  Value compute(Execution& execution, Run& run) const;
  Value scalar(Execution& execution, PlanOperator& plan) const;
  Value quantified(Execution& execution, Run& run) const;
  Value row(Execution& execution, PlanOperator& plan) const;
  Value hashed_any(Execution& execution, Run& run) const;
  /// Compares row by row.
  Value compared(Execution& execution, Run& run) const;
  Value array(Execution& execution, PlanOperator& plan) const;
  [[nodiscard]] bool uses_hash() const noexcept;
  void fill_hash(Execution& execution, Run& run) const;

  Value (SubqueryExpr::*run_)(Execution&) const = nullptr;  ///< null: it has no plan yet
  std::shared_ptr<const int> life_ = std::make_shared<const int>(0);
  std::string signature_;
  Kind kind_;
  Correlation correlation_ = Correlation::outer;
  int number_ = 0;
  StatePlace place_ = 0;
  PlanPtr plan_;
  std::vector<Slot> outputs_;
  std::vector<Slot> further_;
  ExprPtr comparison_;
  std::vector<ExprPtr> hash_left_;
};

}  // namespace swizzle::sql
