// UNION, INTERSECT and EXCEPT.
#include "sql-lite-frontend/execution/grouping/set_operation.h"

#include <algorithm>

#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/planner.h"

namespace swizzle::sql {
namespace {

/// The branches of a UNION: those of an input that only appends become its own, so that a long
/// chain is one step.
void add_branches(std::vector<Append::Branch>& branches, PlanPtr input, std::vector<Slot> slots) {
  auto* const append = dynamic_cast<Append*>(input.get());
  if (append == nullptr || append->output_slots() != slots) {
    branches.push_back({std::move(input), std::move(slots)});
    return;
  }
  std::vector<Append::Branch> inner = append->take_branches();
  if (branches.empty()) {
    branches = std::move(inner);
  } else {
    std::ranges::move(inner, std::back_inserter(branches));
  }
}

}  // namespace

PlanPtr Planner::plan_set_operation(Query& query) {
  PlanPtr left = plan_query(*query.left);
  PlanPtr right = plan_query(*query.right);
  std::vector<Slot> left_slots = query.left->output_slots();
  std::vector<Slot> right_slots = query.right->output_slots();
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < query.body_slots.size(); ++i) types.push_back(query.targets[i].type);
  const double rows = left->expected_rows + right->expected_rows;
  const double cost = left->cost + right->cost + rows * cost::kCondition;
  PlanPtr plan;
  if (query.set_kind == Query::SetKind::union_) {
    std::vector<Append::Branch> branches;
    add_branches(branches, std::move(left), std::move(left_slots));
    add_branches(branches, std::move(right), std::move(right_slots));
    plan = std::make_unique<Append>(std::move(branches), query.body_slots);
    plan->expected_rows = rows;
    plan->cost = cost;
    if (!query.set_all) {
      std::vector<ExprPtr> keys;
      for (std::size_t i = 0; i < query.body_slots.size(); ++i) {
        keys.push_back(std::make_unique<SlotExpr>(types[i], kNoTypmod, query.body_slots[i],
                                                  SlotExpr::Origin{}));
      }
      plan = without_duplicates(std::move(plan), std::move(keys), rows);
    }
    return plan;
  }
  using Kind = SetOperation::Kind;
  Kind kind = query.set_all ? Kind::except_all : Kind::except;
  if (query.set_kind == Query::SetKind::intersect) {
    kind = query.set_all ? Kind::intersect_all : Kind::intersect;
  }
  std::vector<Append::Branch> branches;
  auto operation = std::make_unique<SetOperation>(kind, std::move(left), left_slots,
                                                  std::move(right), right_slots, types);
  operation->expected_rows = rows;
  operation->cost = cost;
  // A single branch, which moves the rows to the operation's own slots.
  branches.push_back({std::move(operation), std::move(left_slots)});
  plan = std::make_unique<Append>(std::move(branches), query.body_slots);
  plan->expected_rows = rows;
  plan->cost = cost;
  return plan;
}

}  // namespace swizzle::sql
