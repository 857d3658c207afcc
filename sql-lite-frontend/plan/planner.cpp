// Queries and writes as a whole: the order of the steps above FROM.
#include "sql-lite-frontend/plan/planner.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sql-lite-frontend/execution/access/cursor_row.h"
#include "sql-lite-frontend/execution/grouping/distinct.h"
#include "sql-lite-frontend/execution/sorting/sort.h"
#include "sql-lite-frontend/execution/sorting/sort_operators.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/steps/cte_scan.h"
#include "sql-lite-frontend/execution/steps/sample_rows.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/leakproof.h"
#include "sql-lite-frontend/plan/postponed.h"
#include "sql-lite-frontend/query/bind/partition_target.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

/// The rows that LIMIT and OFFSET let through, if they are constants.
double wanted_rows(const Query& query) {
  const auto* count = dynamic_cast<const ConstantExpr*>(query.limit.get());
  if (!query.limit || query.with_ties) return kAllRows;
  // Guess for an unknown limit: most are small.
  double rows = 100;
  if (count != nullptr) {
    if (count->value().is_null()) return kAllRows;
    rows = static_cast<double>(std::max<std::int64_t>(count->value().as_int8(), 0));
  }
  const auto* offset = dynamic_cast<const ConstantExpr*>(query.offset.get());
  if (offset != nullptr && !offset->value().is_null()) {
    rows += static_cast<double>(std::max<std::int64_t>(offset->value().as_int8(), 0));
  }
  return rows;
}

ExprPtr slot_of(const OutputTarget& target) {
  return std::make_unique<SlotExpr>(target.type, target.typmod, target.slot,
                                    SlotExpr::Origin{kNoOid, 0, {}, target.name});
}

}  // namespace

double Planner::penalty(std::string_view setting) const {
  return is_allowed(setting) ? 0 : cost::kDisabled;
}

std::vector<std::shared_ptr<Cte>> Planner::steps_of(
    const std::vector<std::shared_ptr<BoundCte>>& bound) {
  std::vector<std::shared_ptr<Cte>> all;
  for (const auto& cte : bound) all.push_back(step_of(*cte));
  return all;
}

std::shared_ptr<Cte> Planner::step_of(BoundCte& bound) {
  if (!bound.planned) {
    bound.planned = std::make_shared<Cte>();
    bound.planned->name = bound.name;
  }
  return bound.planned;
}

PlanPtr Planner::with_eager(PlanPtr plan, std::vector<std::shared_ptr<BoundCte>>& eager,
                            const std::vector<std::shared_ptr<BoundCte>>& correlated) {
  if (eager.empty() && correlated.empty()) return plan;
  for (const auto& cte : eager) plan_cte(*cte);
  const Expected input{*plan};
  return over(std::make_unique<EagerCtes>(std::move(plan), steps_of(eager), steps_of(correlated)),
              input);
}

Cte& Planner::plan_cte(BoundCte& bound) {
  check_stack();
  Cte& cte = *step_of(bound);
  if (cte.plan) return cte;
  for (const OutputTarget& column : bound.columns) cte.column_types.push_back(column.type);
  if (bound.write) {
    cte.outputs.clear();
    for (const OutputTarget& target : bound.write->returning) cte.outputs.push_back(target.slot);
    cte.plan = plan_write(std::move(bound.write));
    return cte;
  }
  cte.union_all = bound.union_all;
  cte.correlated = steps_of(bound.correlated);
  cte.first_outputs = bound.query->output_slots();
  for (const Slot slot : cte.first_outputs) {
    binder_.mark_used(slot);
    cte.outputs.push_back(binder_.new_slot());
  }
  // A placeholder, so that a reference inside the recursive part does not plan it again.
  cte.plan = std::make_unique<OneRow>();
  PlanPtr plan = plan_query(*bound.query);
  if (bound.recursive) {
    cte.recursive_outputs = bound.recursive->output_slots();
    cte.recursive_plan = plan_query(*bound.recursive);
  }
  cte.plan = std::move(plan);
  return cte;
}

PlanPtr Planner::sorted(PlanPtr plan, std::vector<SortKey> keys, double wanted) {
  const Expected input{*plan};
  PlanPtr sort = over(std::make_unique<Sort>(std::move(plan), std::move(keys)), input,
                      cost::sort(input.rows, wanted) + penalty("enable_sort"));
  sort->start_cost = sort->cost;
  return sort;
}

PlanPtr Planner::add_limit(PlanPtr plan, ExprPtr count, ExprPtr offset, std::vector<ExprPtr> ties) {
  if (!count && !offset) return plan;
  const Expected input{*plan};
  const auto* constant = dynamic_cast<const ConstantExpr*>(count.get());
  double rows = count ? std::min(input.rows, 100.0) : input.rows;
  if (constant != nullptr && !constant->value().is_null()) {
    rows = std::min(input.rows, std::max(1.0, static_cast<double>(constant->value().as_int8())));
  }
  auto limit = std::make_unique<Limit>(std::move(plan), std::move(count), std::move(offset),
                                       std::move(ties));
  limit->expected_rows = rows;
  limit->start_cost = input.start;
  limit->cost = input.start + (input.cost - input.start) * rows / std::max(1.0, input.rows);
  return limit;
}

PlanPtr Planner::plan_query(Query& query) {
  check_stack();
  PlanPtr plan;
  switch (query.body) {
    case Query::Body::select:
      return with_eager(plan_select(query), query.eager, query.correlated);
    case Query::Body::values: {
      const auto rows = static_cast<double>(query.rows.size());
      plan = std::make_unique<ValuesScan>(std::move(query.rows), query.body_slots);
      plan->expected_rows = rows;
      plan->cost = rows * cost::kRow;
      break;
    }
    case Query::Body::set_operation:
      plan = plan_set_operation(query);
      break;
  }
  if (!query.order.empty()) {
    const double wanted = wanted_rows(query);
    plan = sorted(std::move(plan), std::move(query.order), wanted);
    auto& sort = dynamic_cast<Sort&>(*plan);
    if (query.limit && !query.with_ties) sort.set_bound(query.limit.get(), query.offset.get());
  }
  // Columns that a set operation above needs in another type.
  std::vector<ComputedSlot> adapted;
  for (OutputTarget& target : query.targets) {
    if (target.expr) adapted.push_back({target.slot, std::move(target.expr)});
  }
  if (!adapted.empty()) {
    const Expected input{*plan};
    plan = over(std::make_unique<Project>(std::move(plan), std::move(adapted)), input);
  }
  plan = add_limit(std::move(plan), std::move(query.limit), std::move(query.offset), {});
  return with_eager(std::move(plan), query.eager, query.correlated);
}

PlanPtr Planner::plan_cursor(Query& query) {
  const bool is_plain = query.body == Query::Body::select && query.from.size() == 1 &&
                        !query.grouped && query.windows.empty() && query.sets.empty() &&
                        query.distinct == Query::DistinctKind::none;
  const auto* table = is_plain ? table_in(*query.from[0]) : nullptr;
  if (table != nullptr) identified_.push_back(table->first_slot);
  return plan_query(query);
}

/// min() or max() of a column that an index orders: the first row in that order is enough.
bool Planner::use_order_for_extreme(Query& query, std::vector<SortKey>& order) {
  const bool is_one = query.is_one_group() && query.aggregates.size() == 1 &&
                      query.carried.empty() && query.from.size() == 1;
  if (!is_one) return false;
  const AggregateCall& call = query.aggregates[0];
  const auto* table = std::get_if<FromTable>(&query.from[0]->node);
  if (table == nullptr || call.filter || call.arguments.size() != 1 || !call.order.empty()) {
    return false;
  }
  const std::string_view name = call.function->name;
  const auto* column = dynamic_cast<const SlotExpr*>(call.arguments[0].get());
  if (column == nullptr || call.made || (name != "min" && name != "max")) return false;
  SortKey key{copy_expression(*column)};
  if (name == "max") {
    key.direction = SortDirection::descending;
    key.nulls = NullsOrder::first;
  }
  const std::size_t position = column->slot() - table->first_slot;
  if (position >= table->table->relation.columns.size()) return false;
  order.push_back(std::move(key));
  split_conjunctions(query.where);
  const bool never_null = table->table->relation.never_null(position);
  if (!never_null) {
    query.where.push_back(
        std::make_unique<TestExpr>(TestExpr::Kind::is_not_null, copy_expression(*column)));
  }
  learn(*query.from[0]);
  const WantedOrder wanted{&order, 1};
  const AccessPath path =
      paths_.best(*table, pointers(query.where), &wanted, AccessPaths::Identity::none);
  if (path.ordered) return true;
  if (!never_null) query.where.pop_back();
  return false;
}

PlanPtr Planner::add_grouping(PlanPtr plan, Query& query, Aggregate::Rows rows) {
  if (!query.grouped) return plan;
  const Expected input{*plan};
  std::vector<double> distinct;
  for (const GroupKey& key : query.group_keys) {
    distinct.push_back(distinct_values(*key.expr, input.rows, known_));
  }
  const double most = std::max(1.0, input.rows);
  double groups =
      query.grouping_sets.sets.empty()
          ? std::min(std::accumulate(distinct.begin(), distinct.end(), 1.0, std::multiplies<>{}),
                     most)
          : 0;
  for (const auto& set : query.grouping_sets.sets) {
    double of_set = 1;
    for (const std::uint32_t key : set) of_set *= distinct[key];
    groups += std::min(of_set, most);
  }
  const auto sorts = rows == Aggregate::Rows::anyhow && !query.group_keys.empty() &&
                     query.grouping_sets.sets.empty() && !is_allowed("enable_hashagg");
  if (sorts) {
    plan = sorted_by_group(std::move(plan), query.group_keys);
    rows = Aggregate::Rows::by_group;
  }
  const auto calls = static_cast<double>(query.aggregates.size());
  const bool hashes = !query.group_keys.empty();
  plan = std::make_unique<Aggregate>(std::move(plan), std::move(query.group_keys),
                                     std::move(query.carried), std::move(query.aggregates), rows,
                                     std::move(query.grouping_sets));
  plan->expected_rows = groups;
  plan->cost =
      input.cost + input.rows * cost::kCondition * (calls + (hashes ? 2 : 0)) + groups * cost::kRow;
  plan->start_cost = plan->cost - groups * cost::kRow;
  return plan;
}

/// Computes the keys and sorts by them; their slots replace the expressions in the list.
PlanPtr Planner::sorted_by_group(PlanPtr plan, std::vector<GroupKey>& keys) {
  std::vector<ComputedSlot> computed;
  std::vector<SortKey> order;
  for (GroupKey& key : keys) {
    if (dynamic_cast<const SlotExpr*>(key.expr.get()) == nullptr) {
      const Slot slot = binder_.new_slot();
      auto in_slot = std::make_unique<SlotExpr>(key.expr->type(), key.expr->typmod(), slot,
                                                SlotExpr::Origin{});
      computed.push_back({slot, std::exchange(key.expr, std::move(in_slot))});
    }
    order.push_back({copy_expression(*key.expr)});
  }
  if (!computed.empty()) {
    const Expected input{*plan};
    plan = over(std::make_unique<Project>(std::move(plan), std::move(computed)), input);
  }
  return sorted(std::move(plan), std::move(order), kAllRows);
}

/// Keeps one of the rows with equal keys, which are slots.
PlanPtr Planner::without_duplicates(PlanPtr plan, std::vector<ExprPtr> keys, double rows) {
  if (is_allowed("enable_hashagg")) {
    const Expected input{*plan};
    plan = over(std::make_unique<Distinct>(std::move(plan), std::move(keys)), input,
                input.rows * cost::kHashBuild);
  } else {
    std::vector<SortKey> order;
    for (const ExprPtr& key : keys) order.push_back({copy_expression(*key)});
    plan = sorted(std::move(plan), std::move(order), kAllRows);
    const Expected input{*plan};
    plan = over(std::make_unique<Unique>(std::move(plan), std::move(keys)), input,
                input.rows * cost::kCondition);
  }
  plan->expected_rows = rows;
  return plan;
}

PlanPtr Planner::add_distinct(PlanPtr plan, Query& query, Aggregate::Rows rows) {
  if (query.distinct != Query::DistinctKind::all) return plan;
  const Expected input{*plan};
  std::vector<ExprPtr> keys;
  double groups = 1;
  for (const OutputTarget& target : query.targets) {
    keys.push_back(slot_of(target));
    groups *= distinct_values(*keys.back(), input.rows, known_);
  }
  groups = std::min(groups, std::max(1.0, input.rows));
  if (rows == Aggregate::Rows::anyhow) {
    return without_duplicates(std::move(plan), std::move(keys), groups);
  }
  plan = over(std::make_unique<Unique>(std::move(plan), std::move(keys)), input,
              input.rows * cost::kHashBuild);
  plan->expected_rows = groups;
  return plan;
}

/// Drops FROM and WHERE of a query with one group and no aggregates: the group exists with or
/// without rows, so only HAVING decides.
void drop_unread_rows(Query& query) {
  const bool is_unread = query.is_one_group() && query.aggregates.empty() &&
                         query.carried.empty() &&
                         std::ranges::none_of(query.sets, &SetItem::below_grouping);
  if (!is_unread) return;
  query.from.clear();
  query.where.clear();
}

/// Takes the sample of all rows before any condition is asked.
PlanPtr Planner::plan_sample(Query& query) {
  PlanPtr plan = plan_from(query.from, {}, nullptr);
  constexpr double kUsualShare = 0.1;
  const auto* percentage = dynamic_cast<const ConstantExpr*>(query.sample->percentage.get());
  const double share = percentage == nullptr || percentage->value().is_null()
                           ? kUsualShare
                           : std::clamp<double>(percentage->value().as_float4() / 100, 0, 1);
  const Expected input{*plan};
  plan = over(std::make_unique<SampleRows>(std::move(plan), std::move(*query.sample)), input);
  plan->expected_rows = std::max(1.0, input.rows * share);
  split_conjunctions(query.where);
  return filtered(std::move(plan), std::move(query.where));
}

PlanPtr Planner::plan_select(Query& query) {
  drop_unread_rows(query);
  LockPlan locks = lock_plan(query);

  const bool plain = !query.grouped && query.windows.empty() && query.sets.empty() &&
                     query.distinct == Query::DistinctKind::none;
  const double wanted = wanted_rows(query);
  WantedOrder order;
  if (plain && !query.order.empty()) {
    order.keys = &query.order;
    order.rows = locks.empty() ? wanted : kAllRows;
  }
  std::vector<SortKey> extreme;
  const bool takes_first = use_order_for_extreme(query, extreme);
  if (takes_first) order = {&extreme, 1};
  const std::vector<SortKey> grouping =
      plain || takes_first ? std::vector<SortKey>{} : group_order(query);
  if (!grouping.empty()) order = grouping_order(grouping);
  std::vector<SortKey> windowed = window_order(query);
  if (!windowed.empty()) order = {&windowed, rows_wanted_of(query.windows.front())};
  PlanPtr plan = plan_extremes(query);
  const bool is_grouped = plan != nullptr;
  if (!plan) {
    plan =
        query.sample ? plan_sample(query) : plan_from(query.from, std::move(query.where), &order);
  }
  if (takes_first && order.satisfied) {
    plan =
        add_limit(std::move(plan), binder_.constant(TypeId::int8, Value::from_int(1)), nullptr, {});
  }
  const auto rows =
      !grouping.empty() && order.satisfied ? Aggregate::Rows::by_group : Aggregate::Rows::anyhow;
  if (!order.satisfied) windowed.clear();
  // Steps above order their input themselves.
  if (!plain) order = {};
  if (!is_grouped) {
    std::vector<SetItem> grouped_sets;
    std::vector<SetItem> other_sets;
    for (SetItem& item : query.sets) {
      (item.below_grouping ? grouped_sets : other_sets).push_back(std::move(item));
    }
    query.sets = std::move(other_sets);
    plan = add_sets(std::move(plan), std::move(grouped_sets));
    plan = add_grouping(std::move(plan), query, query.grouped ? rows : Aggregate::Rows::anyhow);
  }
  split_conjunctions(query.having);
  plan = filtered(std::move(plan), std::move(query.having));
  plan = add_windows(std::move(plan), std::move(query.windows), windowed);
  const Postponed postponed{query};
  if (!postponed.sets()) plan = add_sets(std::move(plan), std::exchange(query.sets, {}));
  std::vector<ComputedSlot> computed;
  std::vector<ComputedSlot> computed_last;
  const auto recomputed = computed_targets_.find(&query);
  for (OutputTarget& target : query.targets) {
    const auto* slot = dynamic_cast<const SlotExpr*>(target.expr.get());
    if (slot != nullptr && slot->slot() == target.slot) continue;
    if (postponed.contains(target)) {
      computed_last.push_back({target.slot, std::move(target.expr)});
      continue;
    }
    if (recomputed != computed_targets_.end()) {
      recomputed->second.push_back({target.slot, target.expr.get()});
    }
    computed.push_back({target.slot, std::move(target.expr)});
  }
  if (!computed.empty()) {
    const Expected input{*plan};
    plan = over(std::make_unique<Project>(std::move(plan), std::move(computed)), input,
                input.rows * cost::kCondition);
  }
  plan = add_distinct(std::move(plan), query, query.grouped ? Aggregate::Rows::anyhow : rows);
  std::vector<ExprPtr> ties;
  if (query.with_ties) {
    for (const SortKey& key : query.order) ties.push_back(copy_expression(*key.expr));
  }
  const bool is_ordered = !query.order.empty();
  const bool by_windows = !windowed.empty() && query.sets.empty() &&
                          query.distinct == Query::DistinctKind::none &&
                          begins_with(windowed, query.order);
  if (is_ordered && !order.satisfied && !by_windows) {
    plan = sorted(std::move(plan), std::move(query.order), wanted);
    const bool bounded = query.limit && !query.with_ties && locks.empty() &&
                         query.distinct != Query::DistinctKind::on && query.sets.empty();
    if (bounded) dynamic_cast<Sort&>(*plan).set_bound(query.limit.get(), query.offset.get());
  }
  if (query.distinct == Query::DistinctKind::on) {
    const Expected input{*plan};
    PlanPtr step;
    // Its expressions are the first of the order, if there is one.
    if (is_ordered) {
      step = std::make_unique<Unique>(std::move(plan), std::move(query.distinct_on));
    } else {
      step = std::make_unique<Distinct>(std::move(plan), std::move(query.distinct_on));
    }
    plan = over(std::move(step), input, input.rows * cost::kCondition);
  }
  plan = add_locks(std::move(plan), std::move(locks));
  plan = add_sets(std::move(plan), std::move(query.sets));
  if (!computed_last.empty()) {
    const Expected input{*plan};
    plan = over(std::make_unique<Project>(std::move(plan), std::move(computed_last)), input,
                input.rows * cost::kCondition);
  }
  return add_limit(std::move(plan), std::move(query.limit), std::move(query.offset),
                   std::move(ties));
}

/// The rows of the table that a statement writes to, those of them that the conditions show.
FromPtr Planner::behind_barrier(FromPtr rows, const FromTable& table, Conditions barrier) {
  if (barrier.empty()) return rows;
  auto shown = std::make_unique<Query>();
  shown->is_barrier = true;
  shown->where = std::move(barrier);
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    const Column& column = table.table->relation.columns[i];
    OutputTarget target;
    target.name = column.name;
    target.type = column.expression_type();
    target.typmod = column.typmod;
    target.slot = table.first_slot + static_cast<Slot>(i);
    target.expr = slot_of(target);
    shown->targets.push_back(std::move(target));
  }
  if (table.partitions) shown->targets.push_back(partition_target(table));
  if (table.row_id_slot) shown->targets.push_back(row_id_target(table));
  shown->from.push_back(std::move(rows));
  return from_node(FromSubquery{std::move(shown), table.alias});
}

/// The table, where the node is one, or the rows of one that barriers show.
FromTable* Planner::table_in(FromNode& node) {
  check_stack();
  if (auto* table = std::get_if<FromTable>(&node.node)) return table;
  auto* subquery = std::get_if<FromSubquery>(&node.node);
  return subquery != nullptr && is_secured_table(*subquery->query)
             ? table_in(*subquery->query->from[0])
             : nullptr;
}

bool Planner::is_secured_table(const Query& query) {
  check_stack();
  const auto is_column = [](const OutputTarget& target) {
    const auto* slot = dynamic_cast<const SlotExpr*>(target.expr.get());
    return slot != nullptr && slot->slot() == target.slot;
  };
  if (!query.is_barrier || query.sample || !query.passes_rows_on() || query.from.size() != 1 ||
      !query.order.empty() || !std::ranges::all_of(query.targets, is_column)) {
    return false;
  }
  // The item may be another secured query, with a table at the bottom.
  const auto* below = std::get_if<FromSubquery>(&query.from[0]->node);
  return below != nullptr ? is_secured_table(*below->query)
                          : std::holds_alternative<FromTable>(query.from[0]->node);
}

namespace {

/// Returns the slot with the hidden ids of the rows that are found; nothing if they are of several
/// tables.
std::optional<Slot> written_row_id(const WriteStatement& write) {
  if (write.partitions.tree) return std::nullopt;
  return row_id_slot(*write.table, write.first_slot);
}

}  // namespace

/// The join of MERGE's target and source.
PlanPtr Planner::plan_merge_rows(WriteStatement& write) {
  MergeParts& merge = *write.merge;
  FromPtr target;
  if (write.view.instead) {
    target = std::move(write.view.rows);
  } else {
    FromTable table{write.table, write.alias, write.first_slot, merge.read_partitions,
                    written_row_id(write)};
    identified_.push_back(write.first_slot);
    written_slot_ = write.first_slot;
    target = behind_barrier(from_node(table), table, std::move(write.rows.barrier));
    for (Conditions& barrier : write.rows.view_barriers) {
      target = behind_barrier(std::move(target), table, std::move(barrier));
    }
  }
  FromJoin join;
  join.kind = merge.join;
  const bool keeps_source = merge.has(MergeAction::Rows::not_matched_by_target);
  join.left = keeps_source ? std::move(merge.source) : std::move(target);
  join.right = keeps_source ? std::move(target) : std::move(merge.source);
  join.conditions = std::move(merge.on);
  std::vector<FromPtr> items;
  items.push_back(from_node(std::move(join)));
  return plan_from(items, {}, nullptr);
}

PlanPtr Planner::plan_write(std::unique_ptr<WriteStatement> write) {
  check_stack();
  // A view in between is not in the plan, except for the name that it gives the table.
  if (write->view.target) write->alias = write->view.target->levels.front().alias;
  PlanPtr rows;
  TableAccess* target = nullptr;
  if (write->kind == WriteKind::insert) {
    // For the row in conflict, policies are checked before conditions that could reveal it.
    if (!write->checks.existing.empty()) {
      split_conjunctions(write->insert.conflict_where);
      write->rows.recheck = take_if(write->insert.conflict_where,
                                    [](Expr& condition) { return !is_leakproof(condition); });
    }
    if (write->insert.source) rows = plan_query(*write->insert.source);
  } else if (write->merge) {
    rows = plan_merge_rows(*write);
    for (const auto& [slot, access] : accesses_) {
      if (slot == write->first_slot) target = access;
    }
  } else if (write->view.instead) {
    std::vector<FromPtr> items;
    items.push_back(std::move(write->view.rows));
    for (FromPtr& item : write->rows.from) items.push_back(std::move(item));
    rows = plan_from(items, std::move(write->rows.where), nullptr);
  } else {
    FromTable table{write->table, write->alias, write->first_slot, write->partitions.tree,
                    written_row_id(*write)};
    identified_.push_back(write->first_slot);
    written_slot_ = write->first_slot;
    if (write->rows.current_of.empty()) {
      std::vector<FromPtr> items;
      FromPtr shown = behind_barrier(from_node(table), table, std::move(write->rows.barrier));
      for (Conditions& barrier : write->rows.view_barriers) {
        shown = behind_barrier(std::move(shown), table, std::move(barrier));
      }
      items.push_back(std::move(shown));
      for (FromPtr& item : write->rows.from) items.push_back(std::move(item));
      rows = plan_from(items, std::move(write->rows.where), nullptr);
    } else {
      rows = with_identity(
          std::make_unique<CursorRow>(table.table, table.alias, wanted_columns(table),
                                      write->rows.current_of, write->rows.current_of_parameter),
          table);
      rows->cost = cost::kLookup;
      rows = filtered(std::move(rows), std::move(write->rows.barrier));
    }
    for (const auto& [slot, access] : accesses_) {
      if (slot == write->first_slot) target = access;
    }
  }
  std::vector<std::shared_ptr<BoundCte>> eager = std::move(write->eager);
  const double cost = rows ? rows->cost : cost::kRow;
  auto step =
      std::make_unique<WriteOperator>(std::move(write), std::move(rows), target, binder_.names());
  step->cost = cost;
  WriteOperator* const made = step.get();
  PlanPtr plan = with_eager(std::move(step), eager, {});
  last_write_ = made;
  return plan;
}

void Planner::plan_pending() {
  // Planning one may not add others, but be safe about the vector growing.
  for (std::size_t i = 0; i < binder_.pending().size(); ++i) {
    std::unique_ptr<Query> query = std::move(binder_.pending()[i].query);
    if (!query || binder_.pending()[i].life.expired()) continue;
    PlanPtr plan = plan_query(*query);
    SubqueryExpr& expr = *binder_.pending()[i].expr;
    if (expr.is_read_again() && is_allowed("enable_material")) plan = kept_rows(std::move(plan));
    expr.set_plan(std::move(plan), query->output_slots());
  }
}

}  // namespace swizzle::sql
