// Relations in FROM: how each is read.
#include <algorithm>

#include "sql-lite-frontend/catalog/statistics/sample.h"
#include "sql-lite-frontend/execution/steps/computed_scan.h"
#include "sql-lite-frontend/execution/steps/cte_scan.h"
#include "sql-lite-frontend/execution/steps/gate.h"
#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/disjunctions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

PlanPtr Planner::filtered(PlanPtr plan, Conditions conditions) {
  if (conditions.empty()) return plan;
  // Subqueries last: each row that another condition rejects saves a run.
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

/// Adds a step that evaluates conditions without columns of FROM once, before any row is read.
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
  check_stack();
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    const std::vector<Slot> own = table_slots(*table);
    slots.insert(slots.end(), own.begin(), own.end());
    if (table->partitions) slots.push_back(partition_slot(*table->table, table->first_slot));
  } else if (const auto* computed = std::get_if<FromComputed>(&node.node)) {
    for (std::size_t i = 0; i < computed->table->relation.columns.size(); ++i) {
      slots.push_back(computed->first_slot + static_cast<Slot>(i));
    }
  } else if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    for (const OutputTarget& target : subquery->query->targets) slots.push_back(target.slot);
  } else if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    for (const FromCall& call : functions->calls) {
      slots.insert(slots.end(), call.slots.begin(), call.slots.end());
    }
    if (functions->ordinality) slots.push_back(*functions->ordinality);
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    slots.insert(slots.end(), cte->slots.begin(), cte->slots.end());
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    collect_slots(*join->left, slots);
    collect_slots(*join->right, slots);
    for (const ComputedSlot& merged : join->merged) slots.push_back(merged.slot);
  }
}

/// Returns the slots that an item reads of its siblings, if it is lateral, and of enclosing
/// queries.
std::vector<Slot> Planner::outer_slots_of(const FromNode& node) const {
  check_stack();
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    return subquery->query->outer_slots;
  }
  std::vector<Slot> slots;
  const auto add = [&](const std::vector<Slot>& read) {
    slots.insert(slots.end(), read.begin(), read.end());
  };
  if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    for (const FromCall& call : functions->calls) {
      for (const ExprPtr& argument : call.arguments) add(slots_read(*argument));
      if (call.scalar) add(slots_read(*call.scalar));
    }
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    slots = cte->cte->outer_slots;
    if (cte->reads == FromCte::Reads::working_table) slots.push_back(cte->cte->round_slot);
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    add(outer_slots_of(*join->left));
    add(outer_slots_of(*join->right));
    for (const ExprPtr& condition : join->conditions) add(slots_read(*condition));
    std::vector<Slot> own;
    collect_slots(node, own);
    std::erase_if(slots, [&](Slot slot) { return std::ranges::find(own, slot) != own.end(); });
  }
  return slots;
}

/// Notes the known facts about the columns of the tables in it.
void Planner::learn(const FromNode& node) {
  check_stack();
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    learn(*join->left);
    learn(*join->right);
    return;
  }
  // Statistics of a table apply to the rows that policies show as well.
  const auto* subquery = std::get_if<FromSubquery>(&node.node);
  if (subquery != nullptr && is_secured_table(*subquery->query)) {
    return learn(*subquery->query->from[0]);
  }
  if (const auto* from = std::get_if<FromTable>(&node.node)) learn_table(*from);
}

namespace {

/// Returns the statistics of its columns; for a partitioned table those of the largest partition.
StatisticsPtr statistics_of(NameSource& names, const FromTable& from) {
  if (!from.partitions) return names.statistics(*from.table);
  const PartitionTree::Leaf* largest = nullptr;
  for (const PartitionTree::Leaf& leaf : from.partitions->leaves) {
    if (!leaf.columns.empty()) continue;
    if (largest == nullptr || leaf.table->expected_rows() > largest->table->expected_rows()) {
      largest = &leaf;
    }
  }
  return largest == nullptr ? nullptr : names.statistics(*largest->table);
}

}  // namespace

void Planner::learn_table(const FromTable& from) {
  const Table& table = *from.table;
  const StatisticsPtr statistics = statistics_of(binder_.names(), from);
  const double rows = expected_rows_of(from);
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    const auto number = static_cast<std::int16_t>(i + 1);
    // An index of the table says nothing of its heirs' rows.
    const bool has_heirs = from.partitions && from.partitions->is_of_heirs();
    const bool is_unique = std::ranges::any_of(table.relation.indexes, [&](const Index& index) {
      return !has_heirs && index.unique && index.is_valid() && index.predicate_sql.empty() &&
             index.columns.size() == 1 && index.columns[0].column == number;
    });
    known_.add(
        from.first_slot + static_cast<Slot>(i),
        {statistics, statistics ? statistics->column(number, statistics_type(column)) : nullptr,
         rows, is_unique, table.relation.never_null(i)});
  }
}

std::vector<Slot> Planner::slots_of(std::span<const Relation> relations) {
  std::vector<Slot> all;
  for (const Relation& relation : relations) {
    all.insert(all.end(), relation.slots.begin(), relation.slots.end());
  }
  return all;
}

/// Turns inner joins into a list of relations; their join conditions become conditions.
void Planner::flatten(FromPtr& item, std::vector<Relation>& relations, Conditions& conditions) {
  check_stack();
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

/// Adds the conditions on one table that follow from an OR that reads several.
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

namespace {

/// Sets of relations are the bits of a number.
void require_few(std::size_t relations) {
  constexpr std::size_t kMost = 64;
  if (relations > kMost) {
    throw SqlError{sqlstate::program_limit_exceeded, "too many tables in one query (limit 64)"};
  }
}

}  // namespace

PlanPtr Planner::plan_from(std::vector<FromPtr>& items, Conditions conditions, WantedOrder* order) {
  split_conjunctions(conditions);
  for (FromPtr& item : items) reduce_outer_joins(*item, conditions);
  std::vector<ComputedSlot> computed = pull_up(items, conditions);
  return computing(plan_items(items, std::move(conditions), order), std::move(computed));
}

PlanPtr Planner::plan_items(std::vector<FromPtr>& items, Conditions conditions,
                            WantedOrder* order) {
  add_leads_of_rows(conditions);
  for (FromPtr& item : items) {
    learn(*item);
    reduce_outer_joins(*item, conditions);
  }
  std::vector<Relation> relations;
  for (FromPtr& item : items) flatten(item, relations, conditions);
  require_few(relations.size());
  split_conjunctions(conditions);
  take_out_common(conditions);
  propagate_constants(conditions, slots_of(relations));
  restrict_by_disjunctions(relations, conditions);
  if (relations.empty()) {
    PlanPtr nothing = std::make_unique<OneRow>();
    nothing->cost = cost::kRow;
    return gated(std::move(nothing), std::move(conditions));
  }
  std::vector<SemiJoin> semi_joins = take_semi_joins(items, relations, conditions, order);
  for (ExprPtr& condition : conditions) binder_.find_by_key(condition);
  split_conjunctions(conditions);
  require_few(relations.size());
  check_stack_for(semi_joins.size());
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

std::optional<Planner::AskedKey> Planner::asked_key(const FromComputed& computed, Expr& condition) {
  const Equality equality = as_equality(condition);
  if (equality.left == nullptr) return std::nullopt;
  const auto position_of = [&](Slot slot) {
    return static_cast<std::size_t>(slot - computed.first_slot);
  };
  const auto& columns = computed.table->computed->columns;
  for (const auto& [side, other] :
       {std::pair{equality.left, equality.right}, std::pair{equality.right, equality.left}}) {
    const auto* const column = dynamic_cast<const SlotExpr*>(side->get());
    if (column == nullptr || column->slot() < computed.first_slot) continue;
    const std::size_t position = position_of(column->slot());
    if (position >= columns.size() || !computed.table->computed->is_key(position)) continue;
    if (has_subquery(**other) || is_volatile(**other)) continue;
    const std::vector<Slot> read = slots_read(**other);
    const bool reads_itself = std::ranges::any_of(read, [&](Slot slot) {
      return slot >= computed.first_slot && position_of(slot) < columns.size();
    });
    if (!reads_itself) return AskedKey{position, other->get(), !read.empty()};
  }
  return std::nullopt;
}

namespace {

/// Finds a condition that a key column equals a value that is known when the step opens.
ComputedScan::Key key_of(const FromComputed& computed, std::vector<ExprPtr>& conditions,
                         const auto& asked_key) {
  ComputedScan::Key key;
  for (const ExprPtr& condition : conditions) {
    const auto asked = asked_key(computed, *condition);
    // A key that depends on no row is computed once.
    if (!asked || (key.value && asked->reads_rows)) continue;
    if (ExprPtr value = copy_expression(*asked->value))
      key = {asked->position, std::move(value), asked->reads_rows};
    if (key.value && !key.reads_rows) break;
  }
  return key;
}

}  // namespace

PlanPtr Planner::plan_computed(FromComputed& computed, Conditions& conditions) {
  std::vector<ComputedScan::Wanted> wanted;
  for (std::size_t i = 0; i < computed.table->relation.columns.size(); ++i) {
    const Slot slot = computed.first_slot + static_cast<Slot>(i);
    if (binder_.is_used(slot)) wanted.push_back({i, slot});
  }
  auto scan = std::make_unique<ComputedScan>(computed.table, computed.alias, std::move(wanted),
                                             key_of(computed, conditions, asked_key));
  scan->expected_rows = 200;
  scan->cost = kCostOfComputed;
  return scan;
}

PlanPtr Planner::plan_cte_scan(FromCte& reference) {
  const Cte& cte = plan_cte(*reference.cte);
  const bool is_inner = reference.reads == FromCte::Reads::working_table;
  // Within the recursive part the query refers to itself; that reference must not keep it alive.
  std::shared_ptr<Cte> step = step_of(*reference.cte);
  if (is_inner) step = {std::shared_ptr<Cte>{}, step.get()};
  auto scan = std::make_unique<CteScan>(
      std::move(step), reference.slots,
      is_inner ? CteScan::Reads::working_table : CteScan::Reads::result, reference.alias);
  scan->expected_rows = reference.cte->recursive ? 100 : cte.plan->expected_rows;
  scan->cost = cte.plan->cost + scan->expected_rows * cost::kKeep;
  return scan;
}

PlanPtr Planner::plan_node(FromNode& node, Conditions& conditions, WantedOrder* order) {
  check_stack();
  if (auto* table = std::get_if<FromTable>(&node.node)) {
    return plan_table(*table, conditions, order);
  }
  if (auto* computed = std::get_if<FromComputed>(&node.node))
    return plan_computed(*computed, conditions);
  if (auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    push_into(node, conditions);
    Query& query = *subquery->query;
    // Leaving rows out keeps an order that an index gives.
    if (is_secured_table(query)) return plan_from(query.from, std::move(query.where), order);
    return plan_query(query);
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

/// Registers the access by its table's slots, with an identity if its rows need one.
PlanPtr Planner::with_identity(std::unique_ptr<TableAccess> access, const FromTable& table) {
  accesses_.emplace_back(table.first_slot, access.get());
  if (needs_identity(table)) {
    const Slot key_slot = binder_.new_slots(2);
    access->keep_identity(key_slot, key_slot + 1);
    if (shows_row_ids(table)) access->show_row_id(*table.row_id_slot);
  }
  return access;
}

bool Planner::shows_row_ids(const FromTable& table) const {
  return table.row_id_slot && binder_.is_used(*table.row_id_slot);
}

bool Planner::needs_identity(const FromTable& table) const {
  return is_identified(table) || shows_row_ids(table);
}

PlanPtr Planner::plan_table(FromTable& table, Conditions& conditions, WantedOrder* order) {
  if (table.partitions) return plan_partitions(table, conditions, order);
  const auto identity =
      needs_identity(table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
  return with_identity(table_access(table, conditions, order, wanted_columns(table), identity),
                       table);
}

/// Returns the access by the cheapest path, and removes the conditions that the path answers.
std::unique_ptr<TableAccess> Planner::table_access(FromTable& table, Conditions& conditions,
                                                   WantedOrder* order,
                                                   std::vector<TableAccess::Wanted> wanted,
                                                   AccessPaths::Identity identity) {
  const AccessPath path = paths_.best(table, pointers(conditions), order, identity);
  if (order != nullptr) order->satisfied = path.ordered;
  AccessPaths::Taken taken = paths_.take(table, path, conditions);
  taken.bounds.any_order = !path.ordered;

  std::unique_ptr<TableAccess> access;
  if (taken.inverted) {
    access = std::make_unique<InvertedAccess>(table.table, table.alias, std::move(wanted),
                                              std::move(*taken.inverted));
  } else if (path.one_row && !path.only_index) {
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
  return access;
}

}  // namespace swizzle::sql
