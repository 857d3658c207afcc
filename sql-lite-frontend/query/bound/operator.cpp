#include "sql-lite-frontend/query/bound/operator.h"

#include <utility>

namespace swizzle::sql {

std::vector<TypeId> expression_types(std::span<const ExprPtr> exprs) {
  std::vector<TypeId> types;
  for (const ExprPtr& expr : exprs) types.push_back(expr->type());
  return types;
}

namespace {

std::string printed(const Expr& expr, ExprPrinter printer) {
  printer.print(expr);
  return std::move(printer.out);
}

template <class Print>
std::string conjunction(std::span<const ExprPtr> conditions, const Print& print) {
  if (conditions.size() == 1) return print(*conditions[0]);
  std::string out = "(";
  for (const ExprPtr& condition : conditions) {
    if (out.size() > 1) out += " AND ";
    out += print(*condition);
  }
  return out + ")";
}

}  // namespace

std::string describe(const Expr& expr, ExprPrinter::Columns columns) {
  return printed(expr, {.columns = columns, .out = {}});
}

std::string describe(std::span<const ExprPtr> conditions, ExprPrinter::Columns columns) {
  return conjunction(conditions, [&](const Expr& expr) { return describe(expr, columns); });
}

std::string describe_at(std::string_view relation, const Expr& condition) {
  return printed(condition,
                 {.columns = ExprPrinter::Columns::qualified, .out = {}, .own_relation = relation});
}

std::string describe_at(std::string_view relation, std::span<const ExprPtr> conditions) {
  return conjunction(conditions, [&](const Expr& expr) { return describe_at(relation, expr); });
}

std::string describe_list(std::span<const ExprPtr> exprs, ExprPrinter::Columns columns) {
  std::string out;
  for (const ExprPtr& expr : exprs) {
    if (!out.empty()) out += ", ";
    out += describe(*expr, columns);
  }
  return out;
}

std::string describe(std::span<const SortKey> keys, ExprPrinter::Columns columns) {
  std::string out;
  for (const SortKey& key : keys) {
    if (!out.empty()) out += ", ";
    out += describe(*key.expr, columns);
    const bool descending = key.direction == SortDirection::descending;
    if (descending) out += " DESC";
    const NullsOrder usual = descending ? NullsOrder::first : NullsOrder::last;
    if (key.nulls != usual) out += descending ? " NULLS LAST" : " NULLS FIRST";
  }
  return out;
}

}  // namespace swizzle::sql
