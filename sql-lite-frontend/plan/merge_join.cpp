// Two tables that can both be read in the order of the columns that they are joined by.
#include "sql-lite-frontend/execution/joins/merge_join.h"

#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

/// Both sides whole, the smaller one in a hash table.
double hash_cost(const AccessPath& left, const AccessPath& right) {
  const double small = std::min(left.rows, right.rows);
  const double large = std::max(left.rows, right.rows);
  const double files = small > cost::kHashFits ? (small + large) * cost::kKeep : 0;
  return left.cost + right.cost + small * cost::kHashBuild + large * cost::kHashProbe + files;
}

/// A condition by which the tables can be merged: two plain columns of one type are equal.
struct Pair {
  Expr* condition;
  ExprPtr* left;
  ExprPtr* right;

  [[nodiscard]] const SlotExpr& left_column() const {
    return dynamic_cast<const SlotExpr&>(**left);
  }
  [[nodiscard]] const SlotExpr& right_column() const {
    return dynamic_cast<const SlotExpr&>(**right);
  }
};

std::vector<Pair> pairs_of(std::span<Expr* const> conditions, std::span<const Slot> left,
                           std::span<const Slot> right) {
  std::vector<Pair> pairs;
  for (Expr* condition : conditions) {
    const Equality equality = as_equality(*condition);
    if (equality.left == nullptr) continue;
    const bool is_swapped = reads_any(**equality.left, right);
    const Pair pair{condition, is_swapped ? equality.right : equality.left,
                    is_swapped ? equality.left : equality.right};
    const auto* left_column = dynamic_cast<const SlotExpr*>(pair.left->get());
    const auto* right_column = dynamic_cast<const SlotExpr*>(pair.right->get());
    if (left_column != nullptr && right_column != nullptr &&
        left_column->type() == right_column->type() && reads_any(**pair.left, left) &&
        reads_any(**pair.right, right)) {
      pairs.push_back(pair);
    }
  }
  return pairs;
}

/// Returns the pairs, as positions in the list, in the order of the index's columns; stops at a
/// column that has no pair.
std::vector<std::size_t> sequence_along(const FromTable& table, const Index& index,
                                        std::span<const Pair> pairs,
                                        const SlotExpr& (Pair::*column_of)() const) {
  std::vector<std::size_t> sequence;
  for (const IndexColumn& column : index.columns) {
    const auto slot = table.first_slot + static_cast<Slot>(column.column - 1);
    const auto at = std::ranges::find_if(pairs, [&](const Pair& pair) {
      return column.column != 0 && (pair.*column_of)().slot() == slot;
    });
    if (at == pairs.end()) break;
    sequence.push_back(static_cast<std::size_t>(at - pairs.begin()));
  }
  return sequence;
}

/// Returns the orders in which the tables may be merged: along each index of either, and by each
/// pair alone.
std::vector<std::vector<std::size_t>> sequences_of(const FromTable& left, const FromTable& right,
                                                   std::span<const Pair> pairs) {
  std::vector<std::vector<std::size_t>> sequences;
  const auto add = [&](std::vector<std::size_t> sequence) {
    if (!sequence.empty() && std::ranges::find(sequences, sequence) == sequences.end()) {
      sequences.push_back(std::move(sequence));
    }
  };
  for (const Index& index : left.table->relation.indexes) {
    if (index.method == IndexMethod::tree && index.is_valid())
      add(sequence_along(left, index, pairs, &Pair::left_column));
  }
  for (const Index& index : right.table->relation.indexes) {
    if (index.method == IndexMethod::tree && index.is_valid())
      add(sequence_along(right, index, pairs, &Pair::right_column));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) add({i});
  return sequences;
}

std::vector<SortKey> ascending(std::span<const Pair> pairs, std::span<const std::size_t> sequence,
                               const SlotExpr& (Pair::*column_of)() const) {
  std::vector<SortKey> keys;
  for (const std::size_t i : sequence) keys.push_back({copy_expression((pairs[i].*column_of)())});
  return keys;
}

bool contains(std::span<Expr* const> list, const Expr& expr) {
  return std::ranges::find(list, &expr) != list.end();
}

/// Conditions by the relations that they read. Of an inner join these are the conditions that read
/// no third relation of `all`; of other joins all of their own, since these decide about a match.
/// Slots outside `all` count as constants.
struct Sides {
  std::vector<Expr*> left;     ///< decided before the join
  std::vector<Expr*> right;    ///< the same
  std::vector<Expr*> joining;  ///< decide about a match

  Sides(JoinKind kind, const Planner::Conditions& conditions, const Planner::Conditions& of_outer,
        std::span<const Slot> outer, std::span<const Slot> inner, std::span<const Slot> all) {
    const std::vector<Slot> both = with(outer, inner);
    for (const ExprPtr& condition : of_outer) left.push_back(condition.get());
    for (const ExprPtr& condition : conditions) {
      const bool is_here = reads_only(*condition, both, all);
      const bool reads_outer = reads_any(*condition, outer);
      const bool reads_inner = reads_any(*condition, inner);
      if (is_here && reads_inner && !reads_outer) {
        right.push_back(condition.get());
      } else if (kind != JoinKind::inner || (is_here && reads_inner)) {
        joining.push_back(condition.get());
      } else if (is_here && reads_outer) {
        left.push_back(condition.get());
      }
    }
  }
};

}  // namespace

/// Returns null if hashing or lookups are cheaper, as they are unless indexes give both orders
/// cheaply. Otherwise takes the conditions that it checks out of the lists; `of_outer` are
/// conditions of the outer table alone, if they are separate. `all` are the slots of every relation
/// that the conditions may join.
PlanPtr Planner::merge_join(JoinKind kind, Relation& outer, Relation& inner, Conditions& conditions,
                            Conditions& of_outer, std::span<const Slot> all) {
  auto* left = std::get_if<FromTable>(&outer.node->node);
  auto* right = std::get_if<FromTable>(&inner.node->node);
  if (left == nullptr || right == nullptr || !binder_.names().planner_allows("enable_mergejoin")) {
    return nullptr;
  }
  const Sides sides{kind, conditions, of_outer, outer.slots, inner.slots, all};
  const std::vector<Pair> pairs = pairs_of(sides.joining, outer.slots, inner.slots);
  if (pairs.empty()) return nullptr;
  const auto path_of = [&](const FromTable& table, std::span<Expr* const> local,
                           const WantedOrder* order) {
    const auto identity =
        is_identified(table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
    return paths_.best(table, local, order, identity);
  };
  std::vector<Expr*> for_right = sides.right;
  for_right.insert(for_right.end(), sides.joining.begin(), sides.joining.end());
  const AccessPath whole_left = path_of(*left, sides.left, nullptr);
  const AccessPath whole_right = path_of(*right, sides.right, nullptr);
  const double looking_up = whole_left.cost +
                            whole_left.rows * path_of(*right, for_right, nullptr).cost +
                            penalty("enable_nestloop");
  const double hashing = hash_cost(whole_left, whole_right) + penalty("enable_hashjoin");
  double cheapest = std::min(hashing, looking_up);
  std::vector<std::size_t> best;
  const auto share_of = [&](std::span<const std::size_t> places) {
    std::vector<Expr*> merged;
    for (const std::size_t i : places) merged.push_back(pairs[i].condition);
    return selectivity(std::span<Expr* const>{merged}, known_);
  };
  for (const std::vector<std::size_t>& sequence : sequences_of(*left, *right, pairs)) {
    const std::vector<SortKey> left_keys = ascending(pairs, sequence, &Pair::left_column);
    const std::vector<SortKey> right_keys = ascending(pairs, sequence, &Pair::right_column);
    const WantedOrder left_order{&left_keys};
    const WantedOrder right_order{&right_keys};
    const AccessPath left_path = path_of(*left, sides.left, &left_order);
    const AccessPath right_path = path_of(*right, sides.right, &right_order);
    // Each pair that the sequence alone finds equal is asked about the rest.
    const double equal = left_path.rows * right_path.rows * share_of(sequence);
    const double merging = (left_path.rows + right_path.rows + equal) * cost::kCondition +
                           right_path.rows * cost::kKeep;
    const double whole = left_path.cost + right_path.cost + merging;
    if (!left_path.ordered || !right_path.ordered || whole >= cheapest) continue;
    cheapest = whole;
    best = sequence;
  }
  if (best.empty()) return nullptr;

  const double share = selectivity(std::span<Expr* const>{sides.joining}, known_);
  const auto planned = [&](Relation& relation, std::span<Expr* const> local,
                           const std::vector<SortKey>& keys) {
    const auto is_local = [&](Expr& condition) { return contains(local, condition); };
    Conditions own = take_if(of_outer, is_local);
    append(own, take_if(conditions, is_local));
    WantedOrder order{&keys};
    PlanPtr plan = plan_node(*relation.node, own, &order);
    STATEMENT_INVARIANT(order.satisfied);
    return filtered(std::move(plan), std::move(own));
  };
  PlanPtr left_plan = planned(outer, sides.left, ascending(pairs, best, &Pair::left_column));
  PlanPtr right_plan = planned(inner, sides.right, ascending(pairs, best, &Pair::right_column));
  const double matches = left_plan->expected_rows * right_plan->expected_rows * share;
  const double rows = joined_rows(kind, left_plan->expected_rows, matches);
  MergeJoin::Keys keys;
  std::vector<Expr*> merged;
  for (const std::size_t i : best) {
    keys.outer.push_back(std::move(*pairs[i].left));
    keys.inner.push_back(std::move(*pairs[i].right));
    merged.push_back(pairs[i].condition);
  }
  Conditions rest =
      take_if(conditions, [&](Expr& condition) { return contains(sides.joining, condition); });
  std::erase_if(rest, [&](const ExprPtr& asked) { return contains(merged, *asked); });
  PlanPtr join = std::make_unique<MergeJoin>(kind, std::move(left_plan), std::move(right_plan),
                                             std::move(keys), std::move(rest));
  join->expected_rows = rows;
  join->cost = cheapest + rows * cost::kCondition;
  return join;
}

}  // namespace swizzle::sql
