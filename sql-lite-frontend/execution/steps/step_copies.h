#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

class NameSource;
struct Cte;

/// Copies a plan's steps for one run. A copy has a state of its own and shares the planned part, so
/// that any number of sessions, and of portals of one session, run a plan at once. Subqueries of
/// expressions are copied when they are first evaluated.
class StepCopies {
 public:
  /// Pre: `execution.names` is set.
  explicit StepCopies(Execution& execution) : execution_(execution) {}

  /// Null of null.
  PlanPtr copy(const PlanPtr& step);
  /// The copy that was made of a step, which is among those copied so far. Null of null.
  template <class Step>
  [[nodiscard]] Step* copy_of(const Step* step) const {
    return static_cast<Step*>(find(step));
  }
  /// The run's own of a WITH query, which lives as long as the execution.
  std::shared_ptr<Cte> copy_of(const std::shared_ptr<Cte>& cte);
  std::vector<std::shared_ptr<Cte>> copy_of(const std::vector<std::shared_ptr<Cte>>& ctes);

  /// Names of the session that runs the copies.
  [[nodiscard]] NameSource& names() const noexcept { return *execution_.names; }

 private:
  [[nodiscard]] PlanOperator* find(const PlanOperator* step) const;

  Execution& execution_;
  std::vector<std::pair<const PlanOperator*, PlanOperator*>> made_;
};

}  // namespace swizzle::sql
