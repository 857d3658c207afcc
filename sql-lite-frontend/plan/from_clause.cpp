// Relations in FROM: how each is read, and how two are joined.
#include <algorithm>

#include "sql-lite-frontend/execute/computed_scan.h"
#include "sql-lite-frontend/execute/cte_scan.h"
#include "sql-lite-frontend/execute/gate.h"
#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/disjunctions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/sql_error.h"

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

PlanPtr Planner::filtered(PlanPtr plan, Conditions conditions) {
  if (conditions.empty()) return plan;
  // Subqueries last: whatever the others reject spares a run.
  std::ranges::stable_partition(conditions,
                                [](const ExprPtr& condition) { return !has_subquery(*condition); });
  const double rows = plan->expected_rows;
  const double asked = rows * cost::kCondition * static_cast<double>(conditions.size());
  const double share = selectivity(conditions, known_);
  const double input_cost = plan->cost;
  const double start = plan->start_cost;
  auto filter = std::make_unique<Filter>(std::move(plan), std::move(conditions));
  filter->expected_rows = std::max(1.0, rows * share);
  filter->cost = input_cost + asked;
  filter->start_cost = start;
  return filter;
}

/// Conditions that read nothing of FROM decide once whether there is anything to do.
PlanPtr Planner::gated(PlanPtr plan, Conditions constant) {
  if (constant.empty()) return plan;
  Conditions each_time = take_if(constant, [](Expr& condition) { return is_volatile(condition); });
  plan = filtered(std::move(plan), std::move(each_time));
  if (constant.empty()) return plan;
  const double rows = plan->expected_rows;
  const double input_cost = plan->cost;
  auto gate = std::make_unique<Gate>(std::move(plan), std::move(constant));
  gate->expected_rows = rows;
  gate->cost = input_cost;
  return gate;
}

bool Planner::is_identified(const FromTable& table) const {
  return std::ranges::find(identified_, table.first_slot) != identified_.end();
}

void Planner::collect_slots(const FromNode& node, std::vector<Slot>& slots) const {
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    const std::vector<Slot> own = table_slots(*table);
    slots.insert(slots.end(), own.begin(), own.end());
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
  const auto add = [&](const std::vector<Slot>& read) {
    slots.insert(slots.end(), read.begin(), read.end());
  };
  if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    for (const FunctionScan::Call& call : functions->calls) {
      for (const ExprPtr& argument : call.arguments) add(slots_read(*argument));
      if (call.scalar) add(slots_read(*call.scalar));
    }
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    slots = cte->cte->outer_slots;
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    add(outer_slots_of(*join->left));
    add(outer_slots_of(*join->right));
  }
  return slots;
}

/// Remembers what is known of the columns of the tables in it.
void Planner::learn(const FromNode& node) {
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    learn(*join->left);
    learn(*join->right);
    return;
  }
  const auto* from = std::get_if<FromTable>(&node.node);
  if (from == nullptr) return;
  const Table& table = *from->table;
  const StatisticsPtr statistics = binder_.names().statistics(table);
  const double rows = table.expected_rows();
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    const auto number = static_cast<std::int16_t>(i + 1);
    const bool is_unique = std::ranges::any_of(table.relation.indexes, [&](const Index& index) {
      return index.unique && index.predicate_sql.empty() && index.columns.size() == 1 &&
             index.columns[0].column == number;
    });
    known_.add(from->first_slot + static_cast<Slot>(i),
               {statistics, statistics ? statistics->column(number, column.type) : nullptr, rows,
                is_unique, column.not_null});
  }
}

/// Inner joins become relations side by side; what they join on becomes conditions.
void Planner::flatten(FromPtr& item, std::vector<Relation>& relations, Conditions& conditions) {
  auto* join = std::get_if<FromJoin>(&item->node);
  if (join != nullptr && join->kind == JoinKind::inner && join->merged.empty()) {
    flatten(join->left, relations, conditions);
    flatten(join->right, relations, conditions);
    append(conditions, std::move(join->conditions));
    return;
  }
  Relation relation{item.get(), {}, 0};
  collect_slots(*item, relation.slots);
  relations.push_back(std::move(relation));
}

/// Adds what follows for one table from an OR that reads several.
void Planner::restrict_by_disjunctions(std::span<const Relation> relations,
                                       Conditions& conditions) {
  if (relations.size() < 2) return;
  Conditions derived;
  for (const ExprPtr& condition : conditions) {
    for (const Relation& relation : relations) {
      const bool reads_others = std::ranges::any_of(relations, [&](const Relation& other) {
        return &other != &relation && reads_any(*condition, other.slots);
      });
      if (!reads_others || !reads_any(*condition, relation.slots)) continue;
      if (ExprPtr own = restriction_of(*condition, relation.slots)) {
        derived.push_back(std::move(own));
      }
    }
  }
  append(conditions, std::move(derived));
}

PlanPtr Planner::plan_from(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order) {
  split_conjunctions(conditions);
  for (FromPtr& item : items) {
    learn(*item);
    reduce_outer_joins(*item, conditions);
  }
  std::vector<Relation> relations;
  for (FromPtr& item : items) flatten(item, relations, conditions);
  split_conjunctions(conditions);
  take_out_common(conditions);
  propagate_constants(conditions);
  restrict_by_disjunctions(relations, conditions);
  if (relations.empty()) {
    PlanPtr nothing = std::make_unique<OneRow>();
    nothing->cost = cost::kRow;
    return gated(std::move(nothing), std::move(conditions));
  }
  std::vector<SemiJoin> semi_joins = take_semi_joins(items, relations, conditions, order);
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
  return join_relations(relations, conditions, semi_joins, relations.size() == 1 ? order : nullptr);
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

  auto* table = std::get_if<FromTable>(&relation.node->node);
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
      const double hashing = can_hash
                                 ? whole.cost + small * cost::kHashBuild + large * cost::kHashProbe
                                 : whole.cost + outer_rows * whole.rows * cost::kCondition;
      by_lookup = outer_rows * path.cost < hashing;
      if (path.one_row) share = std::min(share, 1 / std::max(1.0, whole.rows));
    }
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
    join->cost = outer_cost + outer_rows * each + join->expected_rows * cost::kRow;
    return join;
  }
  Conditions local = take_if(usable, [&](Expr& condition) { return !reads_outer(condition); });
  Conditions costly;
  if (kind == JoinKind::semi || kind == JoinKind::anti) {
    const double inner_rows = expected_rows(*relation.node, local);
    costly = take_costly(local, relation.slots, inner_rows, outer_rows * inner_rows * share);
  }
  // What depends on an enclosing query's row must not be kept for the next one.
  const bool depends = std::ranges::any_of(local, [&](const ExprPtr& condition) {
    return std::ranges::any_of(slots_read(*condition), [&](Slot slot) {
      return std::ranges::find(relation.slots, slot) == relation.slots.end();
    });
  });
  // Asked now: planning takes the node apart.
  const bool is_lateral = depends || !outer_slots_of(*relation.node).empty();
  PlanPtr inner = plan_alone(relation, std::move(local));
  append(usable, std::move(costly));
  const double inner_rows = inner->expected_rows;
  const double rows = joined_rows(kind, outer_rows, outer_rows * inner_rows * share);
  HashJoin::Keys keys = take_hash_keys(usable, outer, relation.slots, binder_);
  if (!keys.probe.empty()) {
    return hash_join(std::move(plan), std::move(inner), std::move(keys), std::move(usable), kind,
                     rows);
  }
  const double inner_cost = inner->cost;
  if (!is_lateral) {
    inner = std::make_unique<Materialize>(std::move(inner));
    inner->expected_rows = inner_rows;
    inner->cost = inner_cost + inner_rows * cost::kKeep;
  }
  auto join =
      std::make_unique<NestedLoop>(kind, std::move(plan), std::move(inner), std::move(usable));
  join->expected_rows = rows;
  join->cost = outer_cost + (is_lateral ? outer_rows * inner_cost : inner_cost) +
               outer_rows * inner_rows * cost::kCondition;
  return join;
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
               (swaps ? inner_rows : outer_rows) * cost::kHashProbe + rows * cost::kCondition;
  return join;
}

PlanPtr Planner::plan_computed(FromComputed& computed) {
  std::vector<ComputedScan::Wanted> wanted;
  for (std::size_t i = 0; i < computed.table->relation.columns.size(); ++i) {
    const Slot slot = computed.first_slot + static_cast<Slot>(i);
    if (binder_.is_used(slot)) wanted.push_back({i, slot});
  }
  auto scan = std::make_unique<ComputedScan>(computed.table, computed.alias, std::move(wanted));
  scan->expected_rows = 200;
  scan->cost = 20;
  return scan;
}

PlanPtr Planner::plan_cte_scan(FromCte& reference) {
  plan_cte(*reference.cte);
  const auto reads = reference.reads == FromCte::Reads::working_table
                         ? CteScan::Reads::working_table
                         : CteScan::Reads::result;
  auto scan = std::make_unique<CteScan>(reference.cte, reference.slots, reads, reference.alias);
  scan->expected_rows = reference.cte->recursive ? 100 : reference.cte->plan->expected_rows;
  scan->cost = reference.cte->plan->cost + scan->expected_rows * cost::kKeep;
  return scan;
}

PlanPtr Planner::plan_node(FromNode& node, Conditions& conditions, WantedOrder* order) {
  if (auto* table = std::get_if<FromTable>(&node.node)) {
    return plan_table(*table, conditions, order);
  }
  if (auto* computed = std::get_if<FromComputed>(&node.node)) return plan_computed(*computed);
  if (auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    push_into(node, conditions);
    return plan_query(*subquery->query);
  }
  if (auto* functions = std::get_if<FromFunctions>(&node.node)) {
    auto scan = std::make_unique<FunctionScan>(std::move(functions->calls), functions->ordinality,
                                               functions->alias);
    scan->expected_rows = 1000;
    scan->cost = 10;
    return scan;
  }
  if (auto* cte = std::get_if<FromCte>(&node.node)) return plan_cte_scan(*cte);
  auto& join = std::get<FromJoin>(node.node);
  if (join.kind == JoinKind::inner && join.merged.empty()) {
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

std::vector<TableAccess::Wanted> Planner::wanted_columns(const FromTable& table) const {
  std::vector<TableAccess::Wanted> wanted;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    const Slot slot = table.first_slot + static_cast<Slot>(i);
    if (binder_.is_used(slot)) wanted.push_back({i, slot});
  }
  return wanted;
}

/// The access, known by its table's slots, with an identity where its rows need one.
PlanPtr Planner::with_identity(std::unique_ptr<TableAccess> access, const FromTable& table) {
  accesses_.emplace_back(table.first_slot, access.get());
  if (is_identified(table)) {
    const Slot key_slot = binder_.new_slots(2);
    access->keep_identity(key_slot, key_slot + 1);
  }
  return access;
}

PlanPtr Planner::plan_table(FromTable& table, Conditions& conditions, WantedOrder* order) {
  const auto identity =
      is_identified(table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
  const AccessPath path = paths_.best(table, pointers(conditions), order, identity);
  if (order != nullptr) order->satisfied = path.ordered;
  AccessPaths::Taken taken = paths_.take(table, path, conditions);
  taken.bounds.any_order = !path.ordered;

  std::vector<TableAccess::Wanted> wanted = wanted_columns(table);
  std::unique_ptr<TableAccess> access;
  if (path.one_row && !path.only_index) {
    access = std::make_unique<PointAccess>(table.table, table.alias, std::move(wanted),
                                           std::move(taken.bounds), ReadMode::snapshot);
  } else {
    access = std::make_unique<RangeAccess>(table.table, table.alias, std::move(wanted),
                                           std::move(taken.bounds), path.direction);
  }
  access->condition_text = std::move(taken.text);
  access->expected_rows = path.matched;
  access->cost = path.cost;
  if (path.is_bounded()) access->start_cost = cost::kDescent;
  return with_identity(std::move(access), table);
}

}  // namespace swizzle::sql
