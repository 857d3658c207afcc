#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/planned.h"
#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

/// EXPLAIN's text for one step of a plan.
struct PlanNote {
  std::string title;                                            ///< "Index Scan using t_pkey on t"
  std::vector<std::pair<std::string, std::string>> properties;  ///< "Filter" → "(a > 1)"
  std::vector<std::string> targets = {};                        ///< "Update on p1 p_1"
};

/// EXPLAIN ANALYZE's output for a run besides rows and time: a line of text, and names and values
/// for the other formats.
struct PlanMeasure {
  std::string line;
  std::vector<std::pair<std::string, std::variant<std::string, std::uint64_t>>> values;
};

class PlanOperator;
using PlanPtr = CheckedUnique<PlanOperator>;

/// Plan that runs besides a step's inputs: a subquery of its expressions, or a WITH query.
struct Subplan {
  enum class Runs : std::uint8_t { once, for_each_row };
  Runs runs = Runs::for_each_row;
  std::string name;                        ///< "SubPlan 1"
  std::vector<const PlanOperator*> parts;  ///< a recursive WITH query has two
};

class StepCopies;

/// One step of a plan. It leaves its rows in slots, one row at a time. State of a run lives in it,
/// so a run of a shared plan makes copies of its steps.
class PlanOperator {
 public:
  PlanOperator() = default;
  PlanOperator(const PlanOperator&) = delete;
  PlanOperator& operator=(const PlanOperator&) = delete;
  virtual ~PlanOperator() = default;

  /// Returns the same step for one run: it shares the plan's data (Planned), its state is new.
  [[nodiscard]] virtual PlanPtr copy_for_run(StepCopies& copies) const = 0;

  /// Starts, or starts over. Reads the slots and parameters that it depends on now.
  virtual void open(Execution& execution) = 0;
  /// Moves to the next row; false at the end. Invalidates the values of the previous row.
  virtual bool next(Execution& execution) = 0;
  /// Releases cursors and memory of the run. Harmless when not open.
  virtual void close() = 0;

  /// Returns the slots with a row after next(); saving and restoring them restores the row.
  [[nodiscard]] virtual std::vector<Slot> output_slots() const = 0;

  [[nodiscard]] virtual PlanNote note(ExprPrinter::Columns columns) const = 0;
  [[nodiscard]] virtual std::vector<const PlanOperator*> children() const { return {}; }
  /// Lets inputs be replaced by steps with the same rows.
  virtual void for_each_input(const std::function<void(PlanPtr&)>& /*visit*/) {}
  /// Visits the expressions that the operator computes itself; optional ones only if present.
  virtual void for_each_expression(const std::function<void(ExprPtr&)>& /*visit*/) {}
  /// Returns the name in the statement of the relation whose rows it reads; empty if it reads none.
  [[nodiscard]] virtual std::string_view scanned_relation() const noexcept { return {}; }
  /// True if EXPLAIN gives it a line of its own; otherwise it is shown with its input.
  [[nodiscard]] virtual bool is_shown() const noexcept { return true; }
  /// Returns the measures of the last run.
  [[nodiscard]] virtual std::vector<PlanMeasure> measured() const { return {}; }

  /// The planner's estimate, shown by EXPLAIN.
  double expected_rows = 1;
  double cost = 0;
  double start_cost = 0;
  /// For EXPLAIN alone.
  std::vector<Subplan> subplans;
};

struct SortKey {
  ExprPtr expr;
  SortDirection direction = SortDirection::ascending;
  NullsOrder nulls = NullsOrder::last;
};

inline void visit_each(std::span<ExprPtr> exprs, const std::function<void(ExprPtr&)>& visit) {
  for (ExprPtr& expr : exprs) visit(expr);
}
inline void visit_each(std::span<SortKey> keys, const std::function<void(ExprPtr&)>& visit) {
  for (SortKey& key : keys) visit(key.expr);
}
template <class T>
void visit_each(Planned<std::vector<T>>& planned, const std::function<void(ExprPtr&)>& visit) {
  visit_each(std::span<T>{planned.change()}, visit);
}

std::vector<TypeId> expression_types(std::span<const ExprPtr> exprs);

std::string describe(const Expr& expr, ExprPrinter::Columns columns);
/// Describes the conjunction of the conditions.
std::string describe(std::span<const ExprPtr> conditions, ExprPrinter::Columns columns);
/// Omits the relation's name from columns of the scanned relation itself.
std::string describe_at(std::string_view relation, const Expr& condition);
std::string describe_at(std::string_view relation, std::span<const ExprPtr> conditions);
std::string describe(std::span<const SortKey> keys, ExprPrinter::Columns columns);
std::string describe_list(std::span<const ExprPtr> exprs, ExprPrinter::Columns columns);

}  // namespace swizzle::sql
