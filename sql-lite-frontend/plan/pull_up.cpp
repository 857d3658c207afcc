// Subqueries and views of FROM that are only joins, conditions and columns: their tables join the
// enclosing query's, so that indexes of theirs serve its conditions in any order of the joins.
#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

/// Relations of one FROM clause beyond which the search for an order of joins gets costly.
constexpr std::size_t kMostRelations = 16;

bool is_column(const OutputTarget& target) {
  const auto* slot = dynamic_cast<const SlotExpr*>(target.expr.get());
  return slot != nullptr && slot->slot() == target.slot;
}

std::vector<Slot> slots_of_targets(std::span<OutputTarget* const> targets) {
  std::vector<Slot> slots;
  for (const OutputTarget* target : targets) slots.push_back(target->slot);
  return slots;
}

bool is_flat_join(const FromNode& node) {
  const auto* join = std::get_if<FromJoin>(&node.node);
  return join != nullptr && join->kind == JoinKind::inner && join->merged.empty();
}

}  // namespace

/// True for a subquery each of whose rows is a combination of rows of its tables. A volatile
/// condition is asked once for each of them, and not for each row of the enclosing join.
bool Planner::may_pull_up(const Query& query) const {
  const bool is_plain = query.passes_rows_on() && query.order.empty() && !query.sample &&
                        !query.is_barrier && !query.computes_first && !query.reads_working_table &&
                        !query.from.empty() && query.recheck.empty() &&
                        std::ranges::none_of(query.where, [](const ExprPtr& condition) {
                          return is_volatile(*condition);
                        });
  // The targets of a query whose rows are locked are computed again, and are looked up by it.
  return is_plain && !computed_targets_.contains(&query);
}

/// Returns the columns that are not a table's and that the enclosing query reads.
std::vector<OutputTarget*> Planner::computed_columns(Query& query) const {
  std::vector<OutputTarget*> columns;
  for (OutputTarget& target : query.targets) {
    if (!is_column(target) && binder_.is_used(target.slot)) columns.push_back(&target);
  }
  return columns;
}

/// Replaces the subquery by its FROM clause and conditions. False: it must be planned by itself.
bool Planner::pull_up_item(std::vector<FromPtr>& items, std::size_t place, Conditions& conditions,
                           std::vector<ComputedSlot>& computed) {
  auto* const subquery = std::get_if<FromSubquery>(&items[place]->node);
  if (subquery == nullptr || !may_pull_up(*subquery->query)) return false;
  Query& query = *subquery->query;
  if (items.size() - 1 + query.from.size() > kMostRelations) return false;
  const std::vector<OutputTarget*> columns = computed_columns(query);
  const std::vector<Slot> slots = slots_of_targets(columns);
  for (const OutputTarget* column : columns) {
    if (!column->expr || is_volatile(*column->expr)) return false;
  }
  // The columns are computed above the join: what is evaluated within it must do without them.
  for (const FromPtr& other : items) {
    const bool reads_columns = std::ranges::any_of(outer_slots_of(*other), [&](Slot slot) {
      return std::ranges::find(slots, slot) != slots.end();
    });
    if (&other != &items[place] && reads_columns) return false;
  }
  const std::vector<Slot> outputs = query.output_slots();
  Conditions replaced(conditions.size());
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (!reads_any(*conditions[i], outputs)) continue;
    replaced[i] = in_terms_of(*conditions[i], query);
    if (!replaced[i] && reads_any(*conditions[i], slots)) return false;
  }
  split_conjunctions(query.where);
  // Conditions of a subquery are asked before those on its rows.
  Conditions all = std::move(query.where);
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    all.push_back(std::move(replaced[i] ? replaced[i] : conditions[i]));
  }
  conditions = std::move(all);
  // A subquery within a subquery comes later, and its columns are computed before.
  std::vector<ComputedSlot> own;
  for (OutputTarget* column : columns) own.push_back({column->slot, std::move(column->expr)});
  computed.insert(computed.begin(), std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
  std::vector<FromPtr> tables = std::move(query.from);
  const auto at = items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  items.insert(at, std::make_move_iterator(tables.begin()), std::make_move_iterator(tables.end()));
  return true;
}

/// Replaces subqueries on the nullable side of left joins by their tables. Their conditions become
/// conditions of the join; a column that is computed would have to be NULL where there is no row.
void Planner::pull_up_nullable(FromJoin& join) {
  check_stack();
  while (join.kind == JoinKind::left) {
    auto* const subquery = std::get_if<FromSubquery>(&join.right->node);
    if (subquery == nullptr || !may_pull_up(*subquery->query)) break;
    Query& query = *subquery->query;
    const bool has_subqueries = std::ranges::any_of(
        query.where, [](const ExprPtr& condition) { return has_subquery(*condition); });
    if (query.from.size() != 1 || has_subqueries || !computed_columns(query).empty()) break;
    split_conjunctions(join.conditions);
    split_conjunctions(query.where);
    Conditions all = std::move(query.where);
    for (ExprPtr& condition : join.conditions) {
      ExprPtr inside = in_terms_of(*condition, query);
      all.push_back(std::move(inside ? inside : condition));
    }
    join.conditions = std::move(all);
    FromPtr table = std::move(query.from[0]);
    join.right = std::move(table);
  }
  for (const FromPtr* side : {&join.left, &join.right}) {
    if (auto* inner = std::get_if<FromJoin>(&(*side)->node)) pull_up_nullable(*inner);
  }
}

std::vector<ComputedSlot> Planner::pull_up(std::vector<FromPtr>& items, Conditions& conditions) {
  std::vector<ComputedSlot> computed;
  for (std::size_t i = 0; i < items.size();) {
    if (is_flat_join(*items[i])) {
      FromJoin join = std::move(std::get<FromJoin>(items[i]->node));
      split_conjunctions(join.conditions);
      append(conditions, std::move(join.conditions));
      items[i] = std::move(join.left);
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(join.right));
      continue;
    }
    if (auto* join = std::get_if<FromJoin>(&items[i]->node)) pull_up_nullable(*join);
    if (!pull_up_item(items, i, conditions, computed)) ++i;
  }
  return computed;
}

}  // namespace swizzle::sql
