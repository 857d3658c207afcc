#include "sql-lite-frontend/plan/planner.h"

#include <algorithm>

#include "sql-lite-frontend/execute/basic_operators.h"
#include "sql-lite-frontend/execute/computed_scan.h"
#include "sql-lite-frontend/execute/cte_scan.h"
#include "sql-lite-frontend/execute/distinct.h"
#include "sql-lite-frontend/execute/hash_join.h"
#include "sql-lite-frontend/execute/sort.h"
#include "sql-lite-frontend/execute/sort_operators.h"
#include "sql-lite-frontend/execute/write.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::vector<Slot> with(std::span<const Slot> left, std::span<const Slot> right) {
  std::vector<Slot> all{left.begin(), left.end()};
  all.insert(all.end(), right.begin(), right.end());
  return all;
}

/// Moves out the conditions that `wanted` says yes to.
template <class Wanted>
std::vector<ExprPtr> take_if(std::vector<ExprPtr>& conditions, const Wanted& wanted) {
  std::vector<ExprPtr> taken;
  std::vector<ExprPtr> rest;
  for (ExprPtr& condition : conditions) {
    (wanted(*condition) ? taken : rest).push_back(std::move(condition));
  }
  conditions = std::move(rest);
  return taken;
}

void append(std::vector<ExprPtr>& to, std::vector<ExprPtr> from) {
  for (ExprPtr& expr : from) to.push_back(std::move(expr));
}

/// Equalities between the two sides become hash keys; the rest stays.
HashJoin::Keys take_hash_keys(std::vector<ExprPtr>& conditions, std::span<const Slot> probe,
                              std::span<const Slot> build) {
  HashJoin::Keys keys;
  const std::vector<Slot> all = with(probe, build);
  std::vector<ExprPtr> rest;
  for (ExprPtr& condition : conditions) {
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

}  // namespace

PlanPtr Planner::filtered(PlanPtr plan, Conditions conditions) {
  if (conditions.empty()) return plan;
  const double rows = plan->expected_rows;
  auto filter = std::make_unique<Filter>(std::move(plan), std::move(conditions));
  filter->expected_rows = std::max(1.0, rows / 3);
  return filter;
}

PlanPtr Planner::with_eager(PlanPtr plan, std::vector<std::shared_ptr<Cte>>& eager,
                            const std::vector<std::shared_ptr<Cte>>& correlated) {
  if (eager.empty() && correlated.empty()) return plan;
  for (const auto& cte : eager) plan_cte(*cte);
  const double rows = plan->expected_rows;
  auto step = std::make_unique<EagerCtes>(std::move(plan), eager, correlated);
  step->expected_rows = rows;
  return step;
}

void Planner::plan_cte(Cte& cte) {
  if (cte.plan) return;
  if (cte.write) {
    cte.outputs.clear();
    for (const OutputTarget& target : cte.write->returning) cte.outputs.push_back(target.slot);
    cte.plan = plan_write(std::move(cte.write));
    return;
  }
  cte.outputs = cte.query->output_slots();
  // A placeholder, so that a reference inside the recursive part does not plan it again.
  cte.plan = std::make_unique<OneRow>();
  PlanPtr plan = plan_query(*cte.query);
  if (cte.recursive) {
    cte.recursive_outputs = cte.recursive->output_slots();
    cte.recursive_plan = plan_query(*cte.recursive);
  }
  cte.plan = std::move(plan);
}

PlanPtr Planner::plan_cte_scan(FromCte& reference) {
  plan_cte(*reference.cte);
  const auto reads = reference.reads == FromCte::Reads::working_table
                         ? CteScan::Reads::working_table
                         : CteScan::Reads::result;
  auto scan = std::make_unique<CteScan>(reference.cte, reference.slots, reads, reference.alias);
  scan->expected_rows = 100;
  return scan;
}

void Planner::collect_slots(const FromNode& node, std::vector<Slot>& slots) const {
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    for (std::size_t i = 0; i < table->table->relation.columns.size(); ++i) {
      slots.push_back(table->first_slot + static_cast<Slot>(i));
    }
  } else if (const auto* computed = std::get_if<FromComputed>(&node.node)) {
    for (std::size_t i = 0; i < computed->table->relation.columns.size(); ++i) {
      slots.push_back(computed->first_slot + static_cast<Slot>(i));
    }
  } else if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    for (const OutputTarget& target : subquery->query->targets) slots.push_back(target.slot);
  } else if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    for (const FunctionScan::Call& call : functions->calls) {
      slots.insert(slots.end(), call.slots.begin(), call.slots.end());
    }
    if (functions->ordinality) slots.push_back(*functions->ordinality);
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    slots.insert(slots.end(), cte->slots.begin(), cte->slots.end());
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    collect_slots(*join->left, slots);
    collect_slots(*join->right, slots);
    for (const Project::Computed& merged : join->merged) slots.push_back(merged.slot);
  }
}

/// What a lateral item reads of its siblings.
std::vector<Slot> Planner::outer_slots_of(const FromNode& node) const {
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    return subquery->query->outer_slots;
  }
  std::vector<Slot> slots;
  if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    for (const FunctionScan::Call& call : functions->calls) {
      for (const ExprPtr& argument : call.arguments) {
        const auto read = slots_read(*argument);
        slots.insert(slots.end(), read.begin(), read.end());
      }
      if (call.scalar) {
        const auto read = slots_read(*call.scalar);
        slots.insert(slots.end(), read.begin(), read.end());
      }
    }
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    slots = cte->cte->outer_slots;
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    for (const FromPtr* side : {&join->left, &join->right}) {
      const auto read = outer_slots_of(**side);
      slots.insert(slots.end(), read.begin(), read.end());
    }
  }
  return slots;
}

/// Inner joins become relations side by side; what they join on becomes conditions.
void Planner::flatten(FromPtr& item, std::vector<Relation>& relations, Conditions& conditions) {
  auto* join = std::get_if<FromJoin>(&item->node);
  if (join != nullptr && join->kind == JoinKind::inner) {
    flatten(join->left, relations, conditions);
    flatten(join->right, relations, conditions);
    append(conditions, std::move(join->conditions));
    return;
  }
  Relation relation{item.get(), {}, 0};
  collect_slots(*item, relation.slots);
  relations.push_back(std::move(relation));
}

PlanPtr Planner::plan_from(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order) {
  std::vector<Relation> relations;
  for (FromPtr& item : items) flatten(item, relations, conditions);
  split_conjunctions(conditions);
  if (relations.empty()) return filtered(std::make_unique<OneRow>(), std::move(conditions));
  if (relations.size() > 64) {
    throw SqlError{sqlstate::program_limit_exceeded, "too many tables in one query (limit 64)"};
  }
  for (Relation& relation : relations) {
    const std::vector<Slot> outer = outer_slots_of(*relation.node);
    for (std::size_t i = 0; i < relations.size(); ++i) {
      if (&relations[i] == &relation) continue;
      const bool reads = std::ranges::any_of(outer, [&](Slot slot) {
        return std::ranges::find(relations[i].slots, slot) != relations[i].slots.end();
      });
      if (reads) relation.needs |= std::uint64_t{1} << i;
    }
  }
  return join_relations(relations, conditions, relations.size() == 1 ? order : nullptr);
}

/// Greedy: starts with the relation that should give the fewest rows, then adds the one that keeps
/// the result smallest, preferring those that conditions connect.
PlanPtr Planner::join_relations(std::vector<Relation>& relations, Conditions& conditions,
                                WantedOrder* order) {
  std::vector<Slot> all;
  for (const Relation& relation : relations) {
    all.insert(all.end(), relation.slots.begin(), relation.slots.end());
  }
  // What refers to no relation at all is decided before any is read.
  Conditions constant =
      take_if(conditions, [&](Expr& condition) { return !reads_any(condition, all); });

  std::vector<Slot> available;
  std::uint64_t joined = 0;
  const auto rows_of = [&](Relation& relation, bool& connected, bool& one_row) {
    const std::vector<Slot> reach = with(available, relation.slots);
    Conditions usable = take_if(conditions, [&](Expr& condition) {
      return reads_any(condition, relation.slots) && reads_only(condition, reach, all);
    });
    connected = std::ranges::any_of(
        usable, [&](const ExprPtr& condition) { return reads_any(*condition, available); });
    double rows = 1000;
    one_row = false;
    if (const auto* table = std::get_if<FromTable>(&relation.node->node)) {
      const AccessChoice choice = choose_access(*table, usable);
      rows = choice.rows;
      one_row = choice.one_row;
      for (std::size_t i = choice.consumed.size(); i < usable.size(); ++i) rows /= 3;
    } else if (std::holds_alternative<FromFunctions>(relation.node->node)) {
      rows = 100;
    }
    append(conditions, std::move(usable));
    return std::max(rows, 1.0);
  };

  PlanPtr plan;
  for (std::size_t step = 0; step < relations.size(); ++step) {
    std::size_t best = relations.size();
    double best_rank = 0;
    for (std::size_t i = 0; i < relations.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((joined & bit) != 0 || (relations[i].needs & ~joined) != 0) continue;
      bool connected = false;
      bool one_row = false;
      double rank = rows_of(relations[i], connected, one_row);
      if (plan && !connected && relations[i].needs == 0) rank *= 1e6;
      if (best == relations.size() || rank < best_rank) {
        best = i;
        best_rank = rank;
      }
    }
    if (best == relations.size()) {
      throw SqlError{sqlstate::feature_not_supported, "circular LATERAL references"};
    }
    Relation& relation = relations[best];
    const std::vector<Slot> reach = with(available, relation.slots);
    Conditions usable = take_if(conditions, [&](Expr& condition) {
      return reads_any(condition, relation.slots) && reads_only(condition, reach, all);
    });
    if (!plan) {
      plan = plan_node(*relation.node, usable, order);
      plan = filtered(std::move(plan), std::move(usable));
    } else {
      plan = add_relation(std::move(plan), relation, std::move(usable), JoinKind::inner);
    }
    joined |= std::uint64_t{1} << best;
    available = reach;
  }
  plan = filtered(std::move(plan), std::move(conditions));
  return filtered(std::move(plan), std::move(constant));
}

/// Joins one more relation to `plan`: by index lookups for each row where that is cheaper, by a
/// hash table where something equals something, by loops otherwise.
PlanPtr Planner::add_relation(PlanPtr plan, Relation& relation, Conditions usable, JoinKind kind) {
  const double outer_rows = plan->expected_rows;
  const std::vector<Slot> outer = plan->output_slots();
  auto* table = std::get_if<FromTable>(&relation.node->node);
  bool by_lookup = relation.needs != 0;
  double lookup_rows = 1;
  if (table != nullptr && !by_lookup) {
    const AccessChoice choice = choose_access(*table, usable);
    const bool uses_outer = std::ranges::any_of(choice.consumed, [&](std::size_t i) {
      return !reads_only(*usable[i], relation.slots, with(outer, relation.slots));
    });
    constexpr double kLookupCost = 4;
    const double total = table->table->expected_rows();
    lookup_rows = choice.rows;
    by_lookup = uses_outer && outer_rows * (kLookupCost + choice.rows) < outer_rows + total;
  }
  if (by_lookup) {
    PlanPtr inner = plan_node(*relation.node, usable, nullptr);
    // For an outer join all of its conditions decide about a match, so they stay with the join.
    auto join =
        std::make_unique<NestedLoop>(kind, std::move(plan), std::move(inner), std::move(usable));
    join->expected_rows = std::max(1.0, outer_rows * lookup_rows);
    return join;
  }
  Conditions local = take_if(usable, [&](Expr& condition) { return !reads_any(condition, outer); });
  PlanPtr inner = plan_node(*relation.node, local, nullptr);
  inner = filtered(std::move(inner), std::move(local));
  const double inner_rows = inner->expected_rows;
  HashJoin::Keys keys = take_hash_keys(usable, outer, relation.slots);
  PlanPtr join;
  if (!keys.probe.empty()) {
    join = std::make_unique<HashJoin>(kind, std::move(plan), std::move(inner), std::move(keys),
                                      std::move(usable));
    join->expected_rows = std::max({1.0, outer_rows, inner_rows});
  } else {
    if (outer_slots_of(*relation.node).empty()) {
      inner = std::make_unique<Materialize>(std::move(inner));
    }
    join = std::make_unique<NestedLoop>(kind, std::move(plan), std::move(inner), std::move(usable));
    join->expected_rows = std::max(1.0, outer_rows * inner_rows);
  }
  return join;
}

PlanPtr Planner::plan_node(FromNode& node, Conditions& conditions, WantedOrder* order) {
  if (auto* table = std::get_if<FromTable>(&node.node)) {
    return plan_table(*table, conditions, order);
  }
  if (auto* computed = std::get_if<FromComputed>(&node.node)) {
    std::vector<ComputedScan::Wanted> wanted;
    for (std::size_t i = 0; i < computed->table->relation.columns.size(); ++i) {
      const Slot slot = computed->first_slot + static_cast<Slot>(i);
      if (binder_.is_used(slot)) wanted.push_back({i, slot});
    }
    auto scan = std::make_unique<ComputedScan>(computed->table, computed->alias, std::move(wanted));
    scan->expected_rows = 200;
    return scan;
  }
  if (auto* subquery = std::get_if<FromSubquery>(&node.node)) return plan_query(*subquery->query);
  if (auto* functions = std::get_if<FromFunctions>(&node.node)) {
    auto scan = std::make_unique<FunctionScan>(std::move(functions->calls), functions->ordinality,
                                               functions->alias);
    scan->expected_rows = 1000;
    return scan;
  }
  if (auto* cte = std::get_if<FromCte>(&node.node)) return plan_cte_scan(*cte);
  auto& join = std::get<FromJoin>(node.node);
  if (join.kind == JoinKind::inner) {
    std::vector<FromPtr> items;
    auto inner = std::make_unique<FromNode>();
    inner->node = std::move(join);
    items.push_back(std::move(inner));
    PlanPtr plan = plan_from(items, std::move(conditions), nullptr);
    conditions.clear();
    return plan;
  }
  return plan_outer_join(join, conditions);
}

PlanPtr Planner::plan_outer_join(FromJoin& join, Conditions& conditions) {
  std::vector<Slot> left_slots;
  std::vector<Slot> right_slots;
  collect_slots(*join.left, left_slots);
  collect_slots(*join.right, right_slots);
  split_conjunctions(join.conditions);

  // What WHERE asks of the kept side alone may be asked before the join.
  const std::vector<Slot> all = with(left_slots, right_slots);
  Conditions pushed;
  if (join.kind == JoinKind::left) {
    pushed = take_if(conditions, [&](Expr& condition) {
      return reads_any(condition, left_slots) && reads_only(condition, left_slots, all) &&
             !reads_any(condition, right_slots);
    });
  }
  PlanPtr left = plan_node(*join.left, pushed, nullptr);
  left = filtered(std::move(left), std::move(pushed));

  PlanPtr plan;
  if (join.kind == JoinKind::left) {
    Relation right{join.right.get(), right_slots, 0};
    const std::vector<Slot> outer = outer_slots_of(*join.right);
    const bool lateral = std::ranges::any_of(
        outer, [&](Slot slot) { return std::ranges::find(left_slots, slot) != left_slots.end(); });
    if (lateral) right.needs = 1;
    plan = add_relation(std::move(left), right, std::move(join.conditions), JoinKind::left);
  } else {
    Conditions none;
    PlanPtr right = plan_node(*join.right, none, nullptr);
    HashJoin::Keys keys = take_hash_keys(join.conditions, left_slots, right_slots);
    if (keys.probe.empty()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "FULL JOIN is only supported with merge-joinable or hash-joinable join "
                     "conditions"};
    }
    plan = std::make_unique<HashJoin>(JoinKind::full, std::move(left), std::move(right),
                                      std::move(keys), std::move(join.conditions));
  }
  if (!join.merged.empty()) {
    plan = std::make_unique<Project>(std::move(plan), std::move(join.merged));
  }
  return plan;
}

PlanPtr Planner::plan_query(Query& query) {
  PlanPtr plan;
  switch (query.body) {
    case Query::Body::select:
      return with_eager(plan_select(query), query.eager, query.correlated);
    case Query::Body::values: {
      const auto rows = static_cast<double>(query.rows.size());
      plan = std::make_unique<ValuesScan>(std::move(query.rows), query.body_slots);
      plan->expected_rows = rows;
      break;
    }
    case Query::Body::set_operation:
      plan = plan_set_operation(query);
      break;
  }
  if (!query.order.empty()) {
    const double rows = plan->expected_rows;
    plan = std::make_unique<Sort>(std::move(plan), std::move(query.order));
    plan->expected_rows = rows;
  }
  // What a set operation above wants in another type.
  std::vector<Project::Computed> adapted;
  for (OutputTarget& target : query.targets) {
    if (target.expr) adapted.push_back({target.slot, std::move(target.expr)});
  }
  if (!adapted.empty()) {
    const double rows = plan->expected_rows;
    plan = std::make_unique<Project>(std::move(plan), std::move(adapted));
    plan->expected_rows = rows;
  }
  if (query.limit || query.offset) {
    plan = std::make_unique<Limit>(std::move(plan), std::move(query.limit), std::move(query.offset),
                                   std::vector<ExprPtr>{});
  }
  return with_eager(std::move(plan), query.eager, query.correlated);
}

PlanPtr Planner::plan_set_operation(Query& query) {
  PlanPtr left = plan_query(*query.left);
  PlanPtr right = plan_query(*query.right);
  std::vector<Slot> left_slots = query.left->output_slots();
  std::vector<Slot> right_slots = query.right->output_slots();
  std::vector<TypeId> types;
  for (const OutputTarget& target : query.left->targets) types.push_back(target.type);
  const std::vector<TypeId>& body_types = types;
  const double rows = left->expected_rows + right->expected_rows;
  PlanPtr plan;
  if (query.set_kind == Query::SetKind::union_) {
    std::vector<Append::Branch> branches;
    branches.push_back({std::move(left), std::move(left_slots)});
    branches.push_back({std::move(right), std::move(right_slots)});
    plan = std::make_unique<Append>(std::move(branches), query.body_slots);
    if (!query.set_all) {
      std::vector<ExprPtr> keys;
      for (std::size_t i = 0; i < query.body_slots.size(); ++i) {
        keys.push_back(std::make_unique<SlotExpr>(body_types[i], kNoTypmod, query.body_slots[i],
                                                  SlotExpr::Origin{}));
      }
      plan = std::make_unique<Distinct>(std::move(plan), std::move(keys));
    }
    plan->expected_rows = rows;
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
  // One branch only: brings the rows to the operation's own slots.
  branches.push_back({std::move(operation), std::move(left_slots)});
  plan = std::make_unique<Append>(std::move(branches), query.body_slots);
  plan->expected_rows = rows;
  return plan;
}

PlanPtr Planner::plan_select(Query& query) {
  std::vector<Slot> locked;
  std::vector<std::pair<RowLock*, const FromTable*>> locks;
  for (RowLock& lock : query.locks) {
    const auto visit = [&](auto& self, const FromNode& node) -> void {
      if (const auto* table = std::get_if<FromTable>(&node.node)) {
        if (!lock.of.empty() && std::ranges::find(lock.of, table->alias) == lock.of.end()) return;
        identified_.push_back(table->first_slot);
        locks.emplace_back(&lock, table);
      } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
        self(self, *join->left);
        self(self, *join->right);
      }
    };
    for (const FromPtr& item : query.from) visit(visit, *item);
  }
  std::vector<std::pair<RowLock*, Slot>> lock_slots;
  for (const auto& [lock, table] : locks) lock_slots.emplace_back(lock, table->first_slot);

  const bool plain = !query.grouped && query.windows.empty() && query.sets.empty() &&
                     query.distinct == Query::DistinctKind::none;
  WantedOrder order;
  if (plain && !query.order.empty()) order.keys = &query.order;
  PlanPtr plan = plan_from(query.from, std::move(query.where), &order);
  const double input_rows = plan->expected_rows;

  if (query.grouped) {
    const bool single = query.group_keys.empty();
    plan = std::make_unique<Aggregate>(std::move(plan), std::move(query.group_keys),
                                       std::move(query.carried), std::move(query.aggregates));
    plan->expected_rows = single ? 1 : std::max(1.0, input_rows / 10);
  }
  plan = filtered(std::move(plan), std::move(query.having));
  for (WindowDefinition& window : query.windows) {
    const double rows = plan->expected_rows;
    plan = std::make_unique<Window>(std::move(plan), std::move(window.partition),
                                    std::move(window.order), std::move(window.frame),
                                    std::move(window.calls));
    plan->expected_rows = rows;
  }
  if (!query.sets.empty()) {
    plan = std::make_unique<ProjectSet>(std::move(plan), std::move(query.sets));
  }
  std::vector<Project::Computed> computed;
  std::vector<LockRows::Recomputed> recomputed;
  for (OutputTarget& target : query.targets) {
    const auto* slot = dynamic_cast<const SlotExpr*>(target.expr.get());
    if (slot != nullptr && slot->slot() == target.slot) continue;
    recomputed.push_back({target.slot, target.expr.get()});
    computed.push_back({target.slot, std::move(target.expr)});
  }
  if (!computed.empty()) {
    const double rows = plan->expected_rows;
    plan = std::make_unique<Project>(std::move(plan), std::move(computed));
    plan->expected_rows = rows;
  }
  if (query.distinct == Query::DistinctKind::all) {
    std::vector<ExprPtr> keys;
    for (const OutputTarget& target : query.targets) {
      keys.push_back(std::make_unique<SlotExpr>(target.type, target.typmod, target.slot,
                                                SlotExpr::Origin{kNoOid, 0, {}, target.name}));
    }
    plan = std::make_unique<Distinct>(std::move(plan), std::move(keys));
  }
  std::vector<ExprPtr> ties;
  if (query.with_ties) {
    for (const SortKey& key : query.order) {
      const auto& slot = dynamic_cast<const SlotExpr&>(*key.expr);
      ties.push_back(
          std::make_unique<SlotExpr>(slot.type(), slot.typmod(), slot.slot(), slot.origin()));
    }
  }
  const bool is_ordered = !query.order.empty();
  if (is_ordered && !order.satisfied) {
    const double rows = plan->expected_rows;
    auto sort = std::make_unique<Sort>(std::move(plan), std::move(query.order));
    const bool bounded = query.limit && !query.with_ties && lock_slots.empty() &&
                         query.distinct != Query::DistinctKind::on;
    if (bounded) sort->set_bound(query.limit.get(), query.offset.get());
    sort->expected_rows = rows;
    plan = std::move(sort);
  }
  if (query.distinct == Query::DistinctKind::on) {
    // Its expressions are the first of the order, if there is one.
    if (is_ordered) {
      plan = std::make_unique<Unique>(std::move(plan), std::move(query.distinct_on));
    } else {
      plan = std::make_unique<Distinct>(std::move(plan), std::move(query.distinct_on));
    }
  }
  if (!lock_slots.empty()) {
    std::vector<LockRows::Target> targets;
    for (const auto& [lock, slot] : lock_slots) {
      for (const auto& [first_slot, access] : accesses_) {
        if (first_slot == slot) targets.push_back({access, lock->mode, lock->wait});
      }
    }
    const double rows = plan->expected_rows;
    plan = std::make_unique<LockRows>(std::move(plan), std::move(targets), std::move(query.recheck),
                                      std::move(recomputed));
    plan->expected_rows = rows;
  }
  if (query.limit || query.offset) {
    const double rows = plan->expected_rows;
    plan = std::make_unique<Limit>(std::move(plan), std::move(query.limit), std::move(query.offset),
                                   std::move(ties));
    plan->expected_rows = std::min(rows, 100.0);
  }
  return plan;
}

PlanPtr Planner::plan_write(std::unique_ptr<WriteStatement> write) {
  PlanPtr rows;
  TableAccess* target = nullptr;
  if (write->kind == WriteKind::insert) {
    if (write->source) rows = plan_query(*write->source);
  } else {
    std::vector<FromPtr> items;
    auto node = std::make_unique<FromNode>();
    node->node = FromTable{write->table, write->alias, write->first_slot};
    items.push_back(std::move(node));
    for (FromPtr& item : write->from) items.push_back(std::move(item));
    identified_.push_back(write->first_slot);
    rows = plan_from(items, std::move(write->where), nullptr);
    for (const auto& [slot, access] : accesses_) {
      if (slot == write->first_slot) target = access;
    }
  }
  std::vector<std::shared_ptr<Cte>> eager = std::move(write->eager);
  auto step =
      std::make_unique<WriteOperator>(std::move(write), std::move(rows), target, binder_.names());
  WriteOperator* const made = step.get();
  PlanPtr plan = with_eager(std::move(step), eager, {});
  last_write_ = made;
  return plan;
}

void Planner::plan_pending() {
  // Planning one may not add others, but be safe about the vector growing.
  for (std::size_t i = 0; i < binder_.pending().size(); ++i) {
    std::unique_ptr<Query> query = std::move(binder_.pending()[i].query);
    if (!query) continue;
    PlanPtr plan = plan_query(*query);
    binder_.pending()[i].expr->set_plan(std::move(plan), query->output_slots(),
                                        binder_.pending()[i].correlation);
  }
}

}  // namespace swizzle::sql
