#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

class NameSource;
struct Cte;

/// Copies a plan for one run. A copy has its own state and shares the planned part, so that several
/// sessions, and several portals of a session, can run one plan at the same time. Subplans of
/// expressions are copied when they are first evaluated.
class StepCopies {
 public:
  /// Pre: `execution.names` is set.
  explicit StepCopies(Execution& execution) : execution_(execution) {}

  /// Returns null for null.
  PlanPtr copy(const PlanPtr& step);
  /// Returns the copy of a plan node, which has been copied already. Null for null.
  template <class Step>
  [[nodiscard]] Step* copy_of(const Step* step) const {
    return static_cast<Step*>(find(step));
  }
  /// Returns this run's copy of a WITH query, which lives as long as the execution.
  std::shared_ptr<Cte> copy_of(const std::shared_ptr<Cte>& cte);
  std::vector<std::shared_ptr<Cte>> copy_of(const std::vector<std::shared_ptr<Cte>>& ctes);

  /// Returns the names of the session that runs the copies.
  [[nodiscard]] NameSource& names() const noexcept { return *execution_.names; }

 private:
  [[nodiscard]] PlanOperator* find(const PlanOperator* step) const;

  Execution& execution_;
  std::vector<std::pair<const PlanOperator*, PlanOperator*>> made_;
};

}  // namespace swizzle::sql
