#include "sql-lite-frontend/plan/leakproof.h"

#include <algorithm>

#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/leakproof.h"

namespace swizzle::sql {
namespace {

/// True if the expression reads rows. Otherwise it reveals nothing about them, even if it fails.
bool reads_rows(Expr& expr) {
  bool reads = false;
  walk(expr, [&](Expr& part) {
    reads |= dynamic_cast<const SlotExpr*>(&part) != nullptr ||
             dynamic_cast<const SubqueryExpr*>(&part) != nullptr;
  });
  return reads;
}

template <class... Kinds>
bool is_any_of(const Expr& expr) {
  return ((dynamic_cast<const Kinds*>(&expr) != nullptr) || ...);
}

/// True if the expression itself, apart from its operands, is leakproof.
bool tells_nothing(const Expr& expr) {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    return is_leakproof(call->function().oid);
  }
  if (const auto* call = dynamic_cast<const RoutineExpr*>(&expr)) return call->routine().leakproof;
  if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    const Cast& how = cast->cast();
    return keeps_bits(how.method) || (how.method == CastMethod::function &&
                                      how.function != nullptr && is_leakproof(how.function->oid));
  }
  if (const auto* list = dynamic_cast<const ArrayComparisonExpr*>(&expr)) {
    return is_leakproof(list->op().function->oid);
  }
  return is_any_of<SlotExpr, ConstantExpr, ParameterExpr, BooleanExpr, TestExpr, CollateExpr,
                   CaseExpr, ArrayExpr, RowExpr>(expr);
}

}  // namespace

bool is_leakproof(Expr& condition) {
  check_stack();
  if (!reads_rows(condition)) return true;
  if (!tells_nothing(condition)) return false;
  bool are_operands = true;
  condition.for_each_operand(
      [&](ExprPtr& operand) { are_operands = are_operands && is_leakproof(*operand); });
  return are_operands;
}

}  // namespace swizzle::sql
