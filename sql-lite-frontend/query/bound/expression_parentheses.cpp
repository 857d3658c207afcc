#include "sql-lite-frontend/query/bound/expression_parentheses.h"

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Parentheses of the pretty form. As in PostgreSQL, only AND, OR, NOT and the basic arithmetic
/// operators have a known precedence; operands of other operators are enclosed unless they are
/// simple.
namespace swizzle::sql {
namespace {

enum class Form : std::uint8_t {
  simple,     ///< a value, a call, CASE: never enclosed
  operation,  ///< an operator
  boolean,    ///< AND, OR, NOT
  test,       ///< IS NULL, IS DISTINCT FROM, IS JSON, a subquery
  cast,       ///< as its operand
  other,
};

std::string_view operator_of(const Expr& expr) {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr))
    return call->op() == nullptr ? std::string_view{} : call->op()->name;
  const auto* routine = dynamic_cast<const RoutineExpr*>(&expr);
  return routine == nullptr || !routine->written().op ? std::string_view{}
                                                      : routine->written().op->name;
}

/// Returns the operand of a cast that is not written as a function call; null for other
/// expressions.
const Expr* operand_of_cast(const Expr& expr) {
  if (const auto* domain = dynamic_cast<const DomainExpr*>(&expr))
    return domain->operands()[0].get();
  const auto* cast = dynamic_cast<const CastExpr*>(&expr);
  return cast == nullptr || cast->cast().method == CastMethod::function ? nullptr
                                                                        : &cast->operand();
}

Form form_of(const Expr& expr) {
  if (!operator_of(expr).empty()) return Form::operation;
  if (operand_of_cast(expr) != nullptr) return Form::cast;
  if (const auto* boolean = dynamic_cast<const BooleanExpr*>(&expr)) {
    if (expr.spelling() == Spelling::call) return Form::boolean;
    // x NOT IN (…)
    const Expr* const list = boolean->operands()[0].get();
    if (dynamic_cast<const ArrayComparisonExpr*>(list) != nullptr) return Form::other;
    return dynamic_cast<const FunctionExpr*>(list) != nullptr ? Form::test : Form::boolean;
  }
  if (dynamic_cast<const TestExpr*>(&expr) != nullptr ||
      dynamic_cast<const DistinctExpr*>(&expr) != nullptr ||
      dynamic_cast<const JsonTestExpr*>(&expr) != nullptr ||
      dynamic_cast<const SubqueryExpr*>(&expr) != nullptr) {
    return Form::test;
  }
  const bool is_other = dynamic_cast<const ArrayComparisonExpr*>(&expr) != nullptr ||
                        dynamic_cast<const RowOrderExpr*>(&expr) != nullptr ||
                        dynamic_cast<const CollateExpr*>(&expr) != nullptr;
  return is_other ? Form::other : Form::simple;
}

constexpr std::string_view kSums = "+-";
constexpr std::string_view kProducts = "*/%";

bool is_one_of(std::string_view op, std::string_view kind) {
  return op.size() == 1 && kind.contains(op[0]);
}

/// Returns true if an operator binds tighter than the one whose operand it is.
bool binds_tighter(const Expr& operand, const Expr& parent) {
  const auto* const list = dynamic_cast<const OperandsExpr*>(&parent);
  const auto* const own = dynamic_cast<const OperandsExpr*>(&operand);
  if (list->operands().size() != 2 || own->operands().size() != 2) return false;
  const std::string_view inner = operator_of(operand);
  const std::string_view outer = operator_of(parent);
  const bool is_product = is_one_of(inner, kProducts);
  const bool in_product = is_one_of(outer, kProducts);
  if (!is_product && !is_one_of(inner, kSums)) return false;
  if (!in_product && !is_one_of(outer, kSums)) return false;
  if (is_product != in_product) return is_product;
  return list->operands()[0].get() == &operand;
}

bool boolean_needs(const BooleanExpr& operand, const Expr& parent) {
  const auto* const around = dynamic_cast<const BooleanExpr*>(&parent);
  if (around == nullptr) return true;
  using Kind = BooleanExpr::Kind;
  if (operand.kind() == Kind::disjunction) return around->kind() != Kind::disjunction;
  return around->kind() == Kind::negation;
}

}  // namespace

bool needs_parentheses(const Expr& operand, const Expr& parent) {
  check_stack();
  switch (form_of(operand)) {
    case Form::simple:
      return false;
    case Form::cast:
      return needs_parentheses(*operand_of_cast(operand), operand);
    case Form::boolean:
      return boolean_needs(dynamic_cast<const BooleanExpr&>(operand), parent);
    case Form::operation:
      if (form_of(parent) == Form::operation) return !binds_tighter(operand, parent);
      return form_of(parent) != Form::boolean;
    case Form::test:
      return form_of(parent) != Form::boolean;
    case Form::other:
      break;
  }
  return true;
}

}  // namespace swizzle::sql
