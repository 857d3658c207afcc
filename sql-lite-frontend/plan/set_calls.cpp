// Calls that return sets.
#include <algorithm>

#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/planner.h"

namespace swizzle::sql {

/// Calls within the arguments of others come first; those of one depth side by side.
PlanPtr Planner::add_sets(PlanPtr plan, std::vector<ProjectSet::Item> items) {
  while (!items.empty()) {
    std::vector<Slot> waiting;
    for (const ProjectSet::Item& item : items) waiting.push_back(item.slot);
    std::vector<ProjectSet::Item> ready;
    std::vector<ProjectSet::Item> later;
    for (ProjectSet::Item& item : items) {
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
