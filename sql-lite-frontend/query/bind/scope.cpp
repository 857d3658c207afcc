#include "sql-lite-frontend/query/bind/scope.h"

#include <algorithm>

namespace swizzle::sql {

std::string_view clause_name(Clause clause) noexcept {
  switch (clause) {
    case Clause::select_list:
      return "SELECT";
    case Clause::from_function:
      return "functions in FROM";
    case Clause::join_on:
      return "JOIN conditions";
    case Clause::where:
      return "WHERE";
    case Clause::group_by:
      return "GROUP BY";
    case Clause::having:
      return "HAVING";
    case Clause::order_by:
      return "ORDER BY";
    case Clause::distinct_on:
      return "DISTINCT ON";
    case Clause::limit:
      return "LIMIT";
    case Clause::offset:
      return "OFFSET";
    case Clause::values:
      return "VALUES";
    case Clause::returning:
      return "RETURNING";
    case Clause::update_set:
      return "UPDATE";
    case Clause::insert_target:
      return "INSERT";
    case Clause::check:
      return "check constraints";
    case Clause::column_default:
      return "DEFAULT expressions";
    case Clause::index_expression:
      return "index expressions";
    case Clause::index_predicate:
      return "index predicates";
    case Clause::generated:
      return "column generation expressions";
    case Clause::window:
      return "window definitions";
    case Clause::filter:
      return "FILTER";
    case Clause::aggregate_argument:
      return "aggregate arguments";
    case Clause::execute_argument:
      return "EXECUTE parameters";
    case Clause::call_argument:
      return "CALL arguments";
    case Clause::alter_using:
      return "transform expressions";
    case Clause::copy_where:
      return "COPY FROM WHERE conditions";
    case Clause::trigger_when:
      return "trigger WHEN conditions";
    case Clause::merge_when:
      return "MERGE WHEN conditions";
    case Clause::policy:
      return "policy expressions";
    case Clause::partition_key:
      return "partition key expressions";
    case Clause::partition_bound:
      return "partition bound";
    case Clause::other:
      break;
  }
  return "this context";
}

std::string_view subquery_refusal(Clause clause) noexcept {
  switch (clause) {
    case Clause::check:
      return "check constraint";
    case Clause::column_default:
      return "DEFAULT expression";
    case Clause::index_expression:
      return "index expression";
    case Clause::index_predicate:
      return "index predicate";
    case Clause::generated:
      return "column generation expression";
    case Clause::execute_argument:
      return "EXECUTE parameter";
    case Clause::call_argument:
      return "CALL argument";
    case Clause::alter_using:
      return "transform expression";
    case Clause::copy_where:
      return "COPY FROM WHERE condition";
    case Clause::trigger_when:
      return "trigger WHEN condition";
    case Clause::partition_key:
      return "partition key expression";
    case Clause::partition_bound:
      return "partition bound";
    default:
      return {};
  }
}

void remove_repeats(std::vector<Slot>& slots) {
  std::ranges::sort(slots);
  const auto repeated = std::ranges::unique(slots);
  slots.erase(repeated.begin(), repeated.end());
}

void add_slots_read(Expr& expr, std::vector<Slot>& slots) {
  walk(expr, [&](Expr& part) {
    if (const auto* slot = dynamic_cast<const SlotExpr*>(&part)) {
      slots.push_back(slot->slot());
    } else if (const auto* subquery = dynamic_cast<const SubqueryExpr*>(&part)) {
      slots.insert(slots.end(), subquery->outer_slots.begin(), subquery->outer_slots.end());
    }
  });
}

}  // namespace swizzle::sql
