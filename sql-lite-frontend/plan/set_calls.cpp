// Planning of set-returning functions in select lists.
#include <algorithm>

#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/planner.h"

namespace swizzle::sql {

/// Adds a step for each nesting depth: calls within arguments first, calls of one depth together.
PlanPtr Planner::add_sets(PlanPtr plan, std::vector<SetItem> items) {
  while (!items.empty()) {
    std::vector<Slot> waiting;
    for (const SetItem& item : items) waiting.push_back(item.slot);
    std::vector<SetItem> ready;
    std::vector<SetItem> later;
    for (SetItem& item : items) {
      const bool reads = std::ranges::any_of(
          item.arguments, [&](const ExprPtr& argument) { return reads_any(*argument, waiting); });
      (reads ? later : ready).push_back(std::move(item));
    }
    const Expected input{*plan};
    plan = over(std::make_unique<ProjectSet>(std::move(plan), std::move(ready)), input);
    plan->expected_rows *= 10;
    items = std::move(later);
  }
  return plan;
}

}  // namespace swizzle::sql
