// Grouping and DISTINCT of one table's columns, where an index has each group's rows together.
#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"

namespace swizzle::sql {
namespace {

/// Returns the columns by which rows are grouped, or distinct; empty if there are other
/// expressions.
std::vector<const SlotExpr*> grouping_columns(const Query& query) {
  std::vector<const SlotExpr*> columns;
  const auto add = [&](const Expr* expr) {
    const auto* column = dynamic_cast<const SlotExpr*>(expr);
    const auto is_same = [&](const SlotExpr* known) {
      return known == column ||
             (known != nullptr && column != nullptr && known->slot() == column->slot());
    };
    if (std::ranges::none_of(columns, is_same)) columns.push_back(column);
  };
  if (query.grouped) {
    for (const GroupKey& key : query.group_keys) add(key.expr.get());
  } else if (query.distinct == Query::DistinctKind::all && query.windows.empty() &&
             query.sets.empty()) {
    for (const OutputTarget& target : query.targets) add(target.expr.get());
  }
  const auto is_none = [](const SlotExpr* column) { return column == nullptr; };
  if (std::ranges::any_of(columns, is_none)) columns.clear();
  return columns;
}

/// The index's order by those columns, if they are its first ones.
std::vector<SortKey> order_along(const FromTable& table, const IndexAccess& index,
                                 std::span<const SlotExpr* const> columns) {
  std::vector<SortKey> keys;
  std::vector<Slot> taken;
  if (columns.size() > index.columns.size()) return keys;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int16_t number = index.index->columns[i].column;
    const auto slot = table.first_slot + static_cast<Slot>(number - 1);
    const auto at = std::ranges::find(columns, slot, &SlotExpr::slot);
    const bool is_again = std::ranges::find(taken, slot) != taken.end();
    if (number == 0 || is_again || at == columns.end()) return {};
    taken.push_back(slot);
    const KeyColumn& column = index.columns[i];
    keys.push_back({copy_expression(**at), column.direction,
                    column.nulls == NullsOrder::absent ? NullsOrder::last : column.nulls});
  }
  return keys;
}

}  // namespace

/// Rows that are not grouped by their order are hashed, unless that is to be avoided.
WantedOrder Planner::grouping_order(const std::vector<SortKey>& keys) const {
  WantedOrder wanted{.keys = &keys};
  if (is_allowed("enable_hashagg")) wanted.otherwise_each = cost::kHashProbe;
  return wanted;
}

/// Returns the order of an index that is worth reading for GROUP BY; empty if there is none.
std::vector<SortKey> Planner::group_order(Query& query) {
  if (!query.grouping_sets.sets.empty()) return {};
  const auto* table =
      query.from.size() == 1 ? std::get_if<FromTable>(&query.from[0]->node) : nullptr;
  if (table == nullptr) return {};
  const std::vector<const SlotExpr*> columns = grouping_columns(query);
  if (columns.empty()) return {};
  split_conjunctions(query.where);
  learn(*query.from[0]);
  for (const IndexAccess& index : table->table->indexes) {
    if (index.is_inverted() || !index.index->is_valid()) continue;
    std::vector<SortKey> keys = order_along(*table, index, columns);
    if (keys.empty()) continue;
    const WantedOrder wanted = grouping_order(keys);
    const AccessPath path =
        paths_.best(*table, pointers(query.where), &wanted, AccessPaths::Identity::none);
    if (path.ordered) return keys;
  }
  return {};
}

}  // namespace swizzle::sql
