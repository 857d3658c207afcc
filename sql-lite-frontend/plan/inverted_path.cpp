// Ways to read a table by an inverted index.
#include "sql-lite-frontend/plan/access_path.h"
#include "sql-lite-frontend/plan/index_match.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"

namespace swizzle::sql {

void AccessPaths::match_elements(const FromTable& table, const BoundIndex& in,
                                 std::span<Expr* const> conditions, AccessPath& path) {
  const IndexAccess& index = *path.index;
  const std::vector<Slot> own = table_slots(table);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const auto condition = as_element_condition(*conditions[i], own);
    if (!condition) continue;
    for (std::size_t column = 0; column < index.classes.size(); ++column) {
      if (!answers(index.classes[column], condition->op, condition->side,
                   without_collation(condition->value->type())) ||
          !is_index_column(table, index, column, in.columns[column], *condition->operand)) {
        continue;
      }
      // The condition is also checked on the rows, so its value is copied; a subquery cannot be.
      if (copy_expression(*condition->value) == nullptr) continue;
      path.of_elements.push_back({column, i});
      break;
    }
  }
}

void AccessPaths::take_elements(const FromTable& table, const AccessPath& path,
                                std::vector<ExprPtr>& conditions, Taken& taken) const {
  const std::vector<Slot> own = table_slots(table);
  InvertedBounds& bounds = taken.inverted.emplace();
  bounds.index = path.index;
  for (const AccessPath::OfElements& one : path.of_elements) {
    Expr& condition = *conditions[one.condition];
    if (!taken.text.empty()) taken.text += " AND ";
    taken.text += describe_at(table.alias, condition);
    const ElementCondition found = *as_element_condition(condition, own);
    bounds.conditions.push_back({one.column, found.op, found.side, copy_expression(*found.value)});
  }
  if (path.of_elements.size() > 1) taken.text = "(" + taken.text + ")";
}

}  // namespace swizzle::sql
