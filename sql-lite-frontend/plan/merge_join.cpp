// Two tables that can both be read in the order of what they are joined by.
#include "sql-lite-frontend/execute/merge_join.h"

#include <algorithm>

#include "base/invariant.h"
#include "sql-lite-frontend/execute/expression_copy.h"
#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/planner.h"

namespace swizzle::sql {
namespace {

std::vector<SortKey> ascending(const Expr& column) {
  std::vector<SortKey> keys;
  keys.push_back({copy_expression(column)});
  return keys;
}

/// Both sides whole, the smaller one in a hash table.
double hash_cost(const AccessPath& left, const AccessPath& right) {
  const double small = std::min(left.rows, right.rows);
  const double large = std::max(left.rows, right.rows);
  const double files = small > cost::kHashFits ? (small + large) * cost::kKeep : 0;
  return left.cost + right.cost + small * cost::kHashBuild + large * cost::kHashProbe + files;
}

}  // namespace

/// Null where hashing or looking up is cheaper, as it is unless indexes give both orders for
/// little.
PlanPtr Planner::merge_join(Relation& outer, Relation& inner, Conditions& conditions) {
  auto* left = std::get_if<FromTable>(&outer.node->node);
  auto* right = std::get_if<FromTable>(&inner.node->node);
  if (left == nullptr || right == nullptr || !binder_.names().planner_allows("enable_mergejoin")) {
    return nullptr;
  }
  const std::vector<Slot> both = with(outer.slots, inner.slots);
  std::vector<Expr*> of_left;
  std::vector<Expr*> of_right;
  std::vector<Expr*> joining;
  std::vector<Expr*> for_right;
  for (const ExprPtr& condition : conditions) {
    const std::vector<Slot> read = slots_read(*condition);
    const auto is_here = [&](Slot slot) { return std::ranges::find(both, slot) != both.end(); };
    if (!std::ranges::all_of(read, is_here)) continue;
    const bool reads_left = reads_any(*condition, outer.slots);
    const bool reads_right = reads_any(*condition, inner.slots);
    if (reads_right) for_right.push_back(condition.get());
    if (reads_left && reads_right) joining.push_back(condition.get());
    if (reads_left && !reads_right) of_left.push_back(condition.get());
    if (reads_right && !reads_left) of_right.push_back(condition.get());
  }
  const auto path_of = [&](const FromTable& table, std::span<Expr* const> local,
                           const WantedOrder* order) {
    const auto identity =
        is_identified(table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
    return paths_.best(table, local, order, identity);
  };
  const AccessPath whole_left = path_of(*left, of_left, nullptr);
  const AccessPath whole_right = path_of(*right, of_right, nullptr);
  const double looking_up =
      whole_left.cost + whole_left.rows * path_of(*right, for_right, nullptr).cost;
  const double cheapest_other = std::min(hash_cost(whole_left, whole_right), looking_up);
  for (Expr* condition : joining) {
    const Equality equality = as_equality(*condition);
    if (equality.left == nullptr) continue;
    const bool is_swapped = reads_any(**equality.left, inner.slots);
    ExprPtr& left_side = is_swapped ? *equality.right : *equality.left;
    ExprPtr& right_side = is_swapped ? *equality.left : *equality.right;
    const auto* left_column = dynamic_cast<const SlotExpr*>(left_side.get());
    const auto* right_column = dynamic_cast<const SlotExpr*>(right_side.get());
    if (left_column == nullptr || right_column == nullptr ||
        left_column->type() != right_column->type() || reads_any(*left_side, inner.slots) ||
        !reads_any(*right_side, inner.slots)) {
      continue;
    }
    const std::vector<SortKey> left_keys = ascending(*left_column);
    const std::vector<SortKey> right_keys = ascending(*right_column);
    WantedOrder left_order{&left_keys};
    WantedOrder right_order{&right_keys};
    const AccessPath left_path = path_of(*left, of_left, &left_order);
    const AccessPath right_path = path_of(*right, of_right, &right_order);
    const double inputs = left_path.cost + right_path.cost;
    const double merging =
        (left_path.rows + right_path.rows) * cost::kCondition + right_path.rows * cost::kKeep;
    if (!left_path.ordered || !right_path.ordered || inputs + merging >= cheapest_other) continue;

    const double share = selectivity(std::span<Expr* const>{joining}, known_);
    const auto planned = [&](Relation& relation, std::span<Expr* const> local, WantedOrder& order) {
      Conditions own = take_if(
          conditions, [&](Expr& taken) { return std::ranges::find(local, &taken) != local.end(); });
      PlanPtr plan = plan_node(*relation.node, own, &order);
      return filtered(std::move(plan), std::move(own));
    };
    PlanPtr left_plan = planned(outer, of_left, left_order);
    PlanPtr right_plan = planned(inner, of_right, right_order);
    INVARIANT(left_order.satisfied && right_order.satisfied);
    const double rows = std::max(1.0, left_plan->expected_rows * right_plan->expected_rows * share);
    Conditions rest = take_if(conditions, [&](Expr& taken) {
      return std::ranges::find(joining, &taken) != joining.end();
    });
    MergeJoin::Keys keys{std::move(left_side), std::move(right_side)};
    std::erase_if(rest, [&](const ExprPtr& asked) { return asked.get() == condition; });
    PlanPtr join =
        std::make_unique<MergeJoin>(JoinKind::inner, std::move(left_plan), std::move(right_plan),
                                    std::move(keys), std::move(rest));
    join->expected_rows = rows;
    join->cost = inputs + merging + rows * cost::kCondition;
    return join;
  }
  return nullptr;
}

}  // namespace swizzle::sql
