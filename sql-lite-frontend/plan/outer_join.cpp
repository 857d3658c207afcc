// Left and full joins.
#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

PlanPtr Planner::plan_outer_join(FromJoin& join, Conditions& conditions) {
  std::vector<Slot> left_slots;
  std::vector<Slot> right_slots;
  collect_slots(*join.left, left_slots);
  collect_slots(*join.right, right_slots);
  split_conjunctions(join.conditions);

  // Conditions of WHERE on the kept side alone may be checked before the join.
  const std::vector<Slot> all = with(left_slots, right_slots);
  Conditions pushed;
  if (join.kind == JoinKind::left) {
    pushed = take_if(conditions, [&](Expr& condition) {
      return reads_any(condition, left_slots) && reads_only(condition, left_slots, all) &&
             !reads_any(condition, right_slots);
    });
  }
  PlanPtr plan;
  Relation right{join.right.get(), right_slots, 0};
  if (join.kind == JoinKind::left) {
    Relation kept{join.left.get(), left_slots, 0};
    plan = merge_join(JoinKind::left, kept, right, join.conditions, pushed, all);
    if (plan) return computing(std::move(plan), std::move(join.merged));
  }
  PlanPtr left = plan_node(*join.left, pushed, nullptr);
  left = filtered(std::move(left), std::move(pushed));

  if (join.kind != JoinKind::full) {
    const std::vector<Slot> outer = outer_slots_of(*join.right);
    const bool lateral = std::ranges::any_of(
        outer, [&](Slot slot) { return std::ranges::find(left_slots, slot) != left_slots.end(); });
    if (lateral) right.needs = 1;
    plan = add_relation(std::move(left), right, std::move(join.conditions), join.kind);
  } else {
    Conditions none;
    PlanPtr whole = plan_node(*join.right, none, nullptr);
    const double rows = std::max(left->expected_rows, whole->expected_rows);
    HashJoin::Keys keys = take_hash_keys(join.conditions, left_slots, right_slots, binder_);
    if (keys.probe.empty()) {
      const bool is_constant = std::ranges::all_of(
          join.conditions, [](const ExprPtr& condition) { return slots_read(*condition).empty(); });
      if (is_constant) {
        // Every row may match every other, so they all get one key.
        keys.probe.push_back(binder_.constant(TypeId::int4, Value::from_int(1)));
        keys.build.push_back(binder_.constant(TypeId::int4, Value::from_int(1)));
      }
    }
    if (keys.probe.empty()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "FULL JOIN is only supported with merge-joinable or hash-joinable join "
                     "conditions"};
    }
    plan = hash_join(std::move(left), std::move(whole), std::move(keys), std::move(join.conditions),
                     JoinKind::full, rows);
  }
  return computing(std::move(plan), std::move(join.merged));
}

/// Adds columns that are computed from the plan's.
PlanPtr Planner::computing(PlanPtr plan, std::vector<ComputedSlot> columns) {
  if (columns.empty()) return plan;
  const double rows = plan->expected_rows;
  const double input_cost = plan->cost;
  plan = std::make_unique<Project>(std::move(plan), std::move(columns));
  plan->expected_rows = rows;
  plan->cost = input_cost;
  return plan;
}

}  // namespace swizzle::sql
