// Ways to read a table by an index of ranges.
#include <algorithm>
#include <array>
#include <utility>

#include "sql-lite-frontend/plan/access_path.h"
#include "sql-lite-frontend/plan/index_match.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/range/range_index.h"

namespace swizzle::sql {
namespace {

/// The operator with its sides exchanged; empty where there is none that helps.
std::string_view commuted_range_operator(std::string_view op) {
  constexpr std::array kPairs =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"&&", "&&"},
                                                                    {"=", "="},
                                                                    {"-|-", "-|-"},
                                                                    {"@>", "<@"},
                                                                    {"<@", "@>"},
                                                                    {"<<", ">>"},
                                                                    {">>", "<<"}});
  const auto found =
      std::ranges::find(kPairs, op, &std::pair<std::string_view, std::string_view>::first);
  return found == kPairs.end() ? std::string_view{} : found->second;
}

/// Returns the rank of an operator by its selectivity, the best first.
std::size_t rank_of(std::string_view op) {
  constexpr std::array kOrder =
      std::to_array<std::string_view>({"=", "<@", "@>", "&&", "-|-", "<<", ">>", "&<", "&>"});
  return static_cast<std::size_t>(std::ranges::find(kOrder, op) - kOrder.begin());
}

std::string_view operator_on_column(const ElementCondition& condition) {
  return condition.side == OperandSide::left ? condition.op : commuted_range_operator(condition.op);
}

}  // namespace

void AccessPaths::match_range(const FromTable& table, const BoundIndex& in,
                              std::span<Expr* const> conditions, AccessPath& path) {
  const std::vector<Slot> own = table_slots(table);
  const TypeId range = path.index->index->columns[0].type;
  std::string_view best;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const auto condition = as_element_condition(*conditions[i], own);
    if (!condition) continue;
    const std::string_view op = operator_on_column(*condition);
    if (!finds_ranges(op, range, condition->value->type()) ||
        !is_index_column(table, *path.index, 0, in.columns[0], *condition->operand)) {
      continue;
    }
    // The condition is also checked on the rows, so its value is copied; a subquery cannot be.
    if (copy_expression(*condition->value) == nullptr) continue;
    if (path.of_range && rank_of(best) <= rank_of(op)) continue;
    path.of_range = i;
    best = op;
  }
}

void AccessPaths::take_range(const FromTable& table, const AccessPath& path,
                             std::vector<ExprPtr>& conditions, Taken& taken) const {
  Expr& condition = *conditions[*path.of_range];
  const ElementCondition found = *as_element_condition(condition, table_slots(table));
  taken.text = describe_at(table.alias, condition);
  taken.bounds.index = path.index;
  taken.bounds.range_operator = operator_on_column(found);
  taken.bounds.of_range = copy_expression(*found.value);
}

}  // namespace swizzle::sql
