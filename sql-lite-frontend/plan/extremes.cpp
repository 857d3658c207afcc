// min() and max() of columns that indexes order: the first row in each order is enough.
#include "sql-lite-frontend/execution/grouping/extremes.h"

#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"

namespace swizzle::sql {
namespace {

/// Returns nothing if one of them cannot be copied.
std::optional<std::vector<ExprPtr>> copies_of(std::span<const ExprPtr> conditions) {
  std::vector<ExprPtr> copies;
  for (const ExprPtr& condition : conditions) {
    ExprPtr copy = is_volatile(*condition) ? nullptr : copy_expression(*condition);
    if (!copy) return std::nullopt;
    copies.push_back(std::move(copy));
  }
  return copies;
}

/// Returns the column whose least or greatest value the call computes.
const SlotExpr* extreme_column(const AggregateCall& call) {
  const std::string_view name = call.function->name;
  const bool is_extreme = !call.made && (name == "min" || name == "max");
  if (!is_extreme || call.filter || call.arguments.size() != 1 || !call.order.empty()) {
    return nullptr;
  }
  return dynamic_cast<const SlotExpr*>(call.arguments[0].get());
}

}  // namespace

/// A query of nothing else, of several of them; null where one is not in an index's order. One
/// alone is use_order_for_extreme()'s.
PlanPtr Planner::plan_extremes(Query& query) {
  const bool is_candidate = query.is_one_group() && query.carried.empty() &&
                            query.from.size() == 1 && query.aggregates.size() > 1;
  const auto* table = is_candidate ? std::get_if<FromTable>(&query.from[0]->node) : nullptr;
  if (table == nullptr) return nullptr;
  learn(*query.from[0]);
  split_conjunctions(query.where);
  struct Search {
    Conditions where;
    std::vector<SortKey> order;
  };
  std::vector<Search> searches;
  for (const AggregateCall& call : query.aggregates) {
    const SlotExpr* column = extreme_column(call);
    auto where = column == nullptr ? std::nullopt : copies_of(query.where);
    if (!where) return nullptr;
    SortKey key{copy_expression(*column)};
    if (call.function->name == "max") {
      key.direction = SortDirection::descending;
      key.nulls = NullsOrder::first;
    }
    const std::size_t position = column->slot() - table->first_slot;
    if (position >= table->table->relation.columns.size()) return nullptr;
    if (!table->table->relation.never_null(position)) {
      where->push_back(
          std::make_unique<TestExpr>(TestExpr::Kind::is_not_null, copy_expression(*column)));
    }
    Search search{std::move(*where), {}};
    search.order.push_back(std::move(key));
    const WantedOrder wanted{&search.order, 1};
    const AccessPath path =
        paths_.best(*table, pointers(search.where), &wanted, AccessPaths::Identity::none);
    if (!path.ordered) return nullptr;
    searches.push_back(std::move(search));
  }
  std::vector<Extremes::Part> parts;
  double cost = 0;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    AggregateCall& call = query.aggregates[i];
    FromTable copy = *table;
    WantedOrder wanted{&searches[i].order, 1};
    PlanPtr plan = plan_table(copy, searches[i].where, &wanted);
    plan = filtered(std::move(plan), std::move(searches[i].where));
    plan =
        add_limit(std::move(plan), binder_.constant(TypeId::int8, Value::from_int(1)), nullptr, {});
    cost += plan->cost;
    parts.push_back({std::move(plan), std::move(call.arguments[0]), call.slot});
  }
  PlanPtr plan = std::make_unique<Extremes>(std::move(parts));
  plan->cost = cost;
  return plan;
}

}  // namespace swizzle::sql
