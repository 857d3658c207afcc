// How two relations are joined: by lookups, by a hash table, or by loops.
#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/leakproof.h"
#include "sql-lite-frontend/plan/planner.h"

namespace swizzle::sql {
namespace {

bool is_integer(TypeId type) {
  return type == TypeId::int2 || type == TypeId::int4 || type == TypeId::int8;
}

/// Integers of two sizes are compared as the largest: keys of a hash table have one type.
void widen_equality(ExprPtr& condition, Binder& binder) {
  auto* call = dynamic_cast<FunctionExpr*>(condition.get());
  if (call == nullptr || call->op() == nullptr || call->op()->name != "=") return;
  const Operator& op = *call->op();
  if (op.left == op.right || !is_integer(op.left) || !is_integer(op.right)) return;
  const auto widened = [&](ExprPtr& operand) {
    return binder.coerce(std::move(operand), TypeId::int8, kNoTypmod,
                         Binder::Implicitness::implicit);
  };
  auto& operands = call->mutable_operands();
  ExprPtr left = widened(operands[0]);
  ExprPtr right = widened(operands[1]);
  condition = binder.comparison("=", std::move(left), std::move(right), -1);
}

}  // namespace

HashJoin::Keys take_hash_keys(std::vector<ExprPtr>& conditions, std::span<const Slot> probe,
                              std::span<const Slot> build, Binder& binder) {
  HashJoin::Keys keys;
  const std::vector<Slot> all = with(probe, build);
  std::vector<ExprPtr> rest;
  for (ExprPtr& condition : conditions) {
    widen_equality(condition, binder);
    const Equality equality = as_equality(*condition);
    bool taken = false;
    if (equality.left != nullptr && is_indexable((*equality.left)->type())) {
      for (const bool swapped : {false, true}) {
        ExprPtr& left = swapped ? *equality.right : *equality.left;
        ExprPtr& right = swapped ? *equality.left : *equality.right;
        if (reads_any(*left, probe) && reads_only(*left, probe, all) && reads_any(*right, build) &&
            reads_only(*right, build, all)) {
          keys.probe.push_back(std::move(left));
          keys.build.push_back(std::move(right));
          taken = true;
          break;
        }
      }
    }
    if (!taken) rest.push_back(std::move(condition));
  }
  conditions = std::move(rest);
  return keys;
}

double joined_rows(JoinKind kind, double outer_rows, double matches) {
  switch (kind) {
    case JoinKind::semi:
      return std::max(1.0, std::min(outer_rows, matches));
    case JoinKind::anti:
      return std::max(1.0, outer_rows - std::min(outer_rows, matches));
    case JoinKind::inner:
      return std::max(1.0, matches);
    default:
      return std::max(outer_rows, matches);
  }
}

/// Returns the slots of other relations and enclosing queries that the relation, or a condition on
/// it alone, reads.
std::vector<Slot> Planner::slots_read_outside(const Relation& relation,
                                              const Conditions& local) const {
  std::vector<Slot> outside = outer_slots_of(*relation.node);
  for (const ExprPtr& condition : local) {
    const std::vector<Slot> read = slots_read(*condition);
    outside.insert(outside.end(), read.begin(), read.end());
  }
  std::erase_if(outside, [&](Slot slot) {
    return std::ranges::find(relation.slots, slot) != relation.slots.end();
  });
  return outside;
}

/// Joins one more relation to `plan`: by index lookups for each row where that is cheaper, by a
/// hash table where something equals something, by loops otherwise.
PlanPtr Planner::add_relation(PlanPtr plan, Relation& relation, Conditions usable, JoinKind kind) {
  const double outer_rows = plan->expected_rows;
  const double outer_cost = plan->cost;
  const std::vector<Slot> outer = plan->output_slots();
  const auto reads_outer = [&](Expr& condition) { return reads_any(condition, outer); };
  std::vector<Expr*> joining;
  for (const ExprPtr& condition : usable) {
    if (reads_outer(*condition)) joining.push_back(condition.get());
  }
  double share = selectivity(std::span<Expr* const>{joining}, known_);
  const bool avoids_hash = !is_allowed("enable_hashjoin") && is_allowed("enable_nestloop");

  auto* table = table_in(*relation.node);
  // Conditions that a policy's barrier keeps out must not be used to find rows.
  const bool is_secured = !std::holds_alternative<FromTable>(relation.node->node);
  if (is_secured && std::ranges::any_of(usable, [](const ExprPtr& condition) {
        return !is_leakproof(*condition);
      })) {
    table = nullptr;
  }
  bool by_lookup = relation.needs != 0;
  if (table != nullptr && !by_lookup) {
    const auto identity =
        is_identified(*table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
    const AccessPath path = paths_.best(*table, pointers(usable), nullptr, identity);
    const auto answered = path.answered();
    const bool uses_outer =
        std::ranges::any_of(answered, [&](std::size_t i) { return reads_outer(*usable[i]); });
    if (uses_outer) {
      std::vector<Expr*> local;
      for (const ExprPtr& condition : usable) {
        if (!reads_outer(*condition)) local.push_back(condition.get());
      }
      const AccessPath whole = paths_.best(*table, local, nullptr, identity);
      const bool can_hash = std::ranges::any_of(
          joining, [](Expr* condition) { return as_equality(*condition).left != nullptr; });
      const double small = std::min(outer_rows, whole.rows);
      const double large = std::max(outer_rows, whole.rows);
      const double hashing = whole.cost + small * cost::kHashBuild + large * cost::kHashProbe +
                             penalty("enable_hashjoin");
      const double looping = whole.cost + outer_rows * whole.rows * cost::kCondition;
      by_lookup = outer_rows * path.cost + (can_hash ? penalty("enable_nestloop") : 0) <
                  (can_hash && !avoids_hash ? hashing : looping);
      if (path.one_row) share = std::min(share, 1 / std::max(1.0, whole.rows));
    }
  }
  if (const auto* computed = std::get_if<FromComputed>(&relation.node->node);
      computed != nullptr && !by_lookup) {
    const bool has_key = std::ranges::any_of(
        joining, [&](Expr* condition) { return asked_key(*computed, *condition).has_value(); });
    by_lookup = has_key && outer_rows * kCostOfComputedKey + penalty("enable_nestloop") <
                               kCostOfComputed + penalty("enable_hashjoin");
  }
  if (by_lookup) {
    PlanPtr inner = plan_node(*relation.node, usable, nullptr);
    const double each = inner->cost;
    const double inner_rows = inner->expected_rows;
    const double rest = selectivity(usable, known_);
    // For an outer join all of its conditions decide about a match, so they stay with the join.
    auto join =
        std::make_unique<NestedLoop>(kind, std::move(plan), std::move(inner), std::move(usable));
    join->expected_rows = joined_rows(kind, outer_rows, outer_rows * inner_rows * rest);
    join->cost = outer_cost + outer_rows * each + join->expected_rows * cost::kRow +
                 penalty("enable_nestloop");
    return join;
  }
  Conditions local = take_if(usable, [&](Expr& condition) { return !reads_outer(condition); });
  Conditions costly;
  if (kind == JoinKind::semi || kind == JoinKind::anti) {
    const double inner_rows = expected_rows(*relation.node, local);
    costly = take_costly(local, relation.slots, inner_rows, outer_rows * inner_rows * share);
  }
  // Asked now: planning takes the node apart.
  const std::vector<Slot> outside = slots_read_outside(relation, local);
  const auto is_outer = [&](Slot slot) { return std::ranges::find(outer, slot) != outer.end(); };
  const bool is_kept = is_allowed("enable_material") && std::ranges::none_of(outside, is_outer);
  PlanPtr inner = plan_alone(relation, std::move(local));
  append(usable, std::move(costly));
  const double inner_rows = inner->expected_rows;
  const double rows = joined_rows(kind, outer_rows, outer_rows * inner_rows * share);
  HashJoin::Keys keys;
  if (!avoids_hash) keys = take_hash_keys(usable, outer, relation.slots, binder_);
  if (!keys.probe.empty()) {
    return hash_join(std::move(plan), std::move(inner), std::move(keys), std::move(usable), kind,
                     rows);
  }
  const double inner_cost = inner->cost;
  Materialize* kept = nullptr;
  if (is_kept) {
    auto material = kept_rows(std::move(inner));
    kept = material.get();
    inner = std::move(material);
  }
  auto join =
      std::make_unique<NestedLoop>(kind, std::move(plan), std::move(inner), std::move(usable));
  // Rows that depend on an enclosing query's row must not be kept for the next one.
  if (kept != nullptr && !outside.empty()) join->forget_when_opened(*kept);
  join->expected_rows = rows;
  join->cost = outer_cost + (is_kept ? inner_cost : outer_rows * inner_cost) +
               outer_rows * inner_rows * cost::kCondition + penalty("enable_nestloop");
  return join;
}

std::unique_ptr<Materialize> Planner::kept_rows(PlanPtr plan) {
  const double rows = plan->expected_rows;
  const double cost = plan->cost + rows * cost::kKeep;
  auto kept = std::make_unique<Materialize>(std::move(plan));
  kept->expected_rows = rows;
  kept->cost = cost;
  return kept;
}

/// A relation by itself, with the conditions that only it decides about.
PlanPtr Planner::plan_alone(Relation& relation, Conditions conditions) {
  const auto has_one = [](const ExprPtr& condition) { return has_subquery(*condition); };
  if (std::ranges::any_of(conditions, has_one)) {
    // Some of them may be joins.
    std::vector<FromPtr> items;
    items.push_back(from_node(std::move(relation.node->node)));
    return plan_from(items, std::move(conditions), nullptr);
  }
  PlanPtr plan = plan_node(*relation.node, conditions, nullptr);
  return filtered(std::move(plan), std::move(conditions));
}

/// The smaller side goes into the hash table.
PlanPtr Planner::hash_join(PlanPtr plan, PlanPtr inner, HashJoin::Keys keys, Conditions rest,
                           JoinKind kind, double rows) {
  const double outer_rows = plan->expected_rows;
  const double inner_rows = inner->expected_rows;
  const double input_cost = plan->cost + inner->cost;
  const auto swapped = [kind] {
    switch (kind) {
      case JoinKind::left:
        return JoinKind::right;
      case JoinKind::semi:
        return JoinKind::right_semi;
      case JoinKind::anti:
        return JoinKind::right_anti;
      default:
        return kind;
    }
  };
  const bool swaps = kind != JoinKind::full && inner_rows > outer_rows * 1.5;
  const double build_rows = swaps ? outer_rows : inner_rows;
  const double start = (swaps ? plan->cost : inner->cost) + build_rows * cost::kHashBuild;
  PlanPtr join;
  if (swaps) {
    std::swap(keys.probe, keys.build);
    join = std::make_unique<HashJoin>(swapped(), std::move(inner), std::move(plan), std::move(keys),
                                      std::move(rest));
  } else {
    const bool decides = kind == JoinKind::semi || kind == JoinKind::anti;
    std::vector<Slot> kept = inner->output_slots();
    if (decides) {
      const auto is_read = [&](Slot slot) {
        const auto reads = [&](const ExprPtr& expr) { return reads_any(*expr, {&slot, 1}); };
        return std::ranges::any_of(keys.build, reads) || std::ranges::any_of(rest, reads);
      };
      std::erase_if(kept, [&](Slot slot) { return !is_read(slot); });
    }
    auto hashed = std::make_unique<HashJoin>(kind, std::move(plan), std::move(inner),
                                             std::move(keys), std::move(rest));
    if (decides) hashed->keep_only(std::move(kept));
    join = std::move(hashed);
  }
  join->expected_rows = rows;
  join->start_cost = start;
  join->cost = input_cost + build_rows * cost::kHashBuild +
               (swaps ? inner_rows : outer_rows) * cost::kHashProbe + rows * cost::kCondition +
               penalty("enable_hashjoin");
  return join;
}

}  // namespace swizzle::sql
