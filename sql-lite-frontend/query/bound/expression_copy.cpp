#include "sql-lite-frontend/query/bound/expression_copy.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/query/bound/xml_expression.h"

namespace swizzle::sql {
namespace {

/// Copies all expressions. Returns false if one of them cannot be copied.
bool copy_all(std::span<const ExprPtr> from, const SlotReplacement& replace,
              std::vector<ExprPtr>& to) {
  for (const ExprPtr& expr : from) {
    ExprPtr copy = copy_expression(*expr, replace);
    if (!copy) return false;
    to.push_back(std::move(copy));
  }
  return true;
}

ExprPtr copy_with_operands(const Expr& expr, std::vector<ExprPtr> operands) {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    auto copy = std::make_unique<FunctionExpr>(call->function(), call->op(), call->type(),
                                               std::move(operands));
    copy->set_variadic_array(call->variadic_array());
    return copy;
  }
  if (const auto* call = dynamic_cast<const RoutineExpr*>(&expr)) {
    auto copy = std::make_unique<RoutineExpr>(call->call(), call->place(), std::move(operands));
    copy->set_written(call->written());
    return copy;
  }
  if (const auto* computed = dynamic_cast<const VirtualColumnExpr*>(&expr)) {
    const SlotExpr& column = computed->column();
    return std::make_unique<VirtualColumnExpr>(
        std::make_unique<SlotExpr>(column.type(), column.typmod(), column.slot(), column.origin()),
        std::move(operands[0]));
  }
  if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    return std::make_unique<CastExpr>(cast->cast(), cast->form(), std::move(operands[0]));
  }
  if (const auto* collate = dynamic_cast<const CollateExpr*>(&expr)) {
    return std::make_unique<CollateExpr>(collate->collation(), collate->name(),
                                         std::move(operands[0]));
  }
  if (const auto* domain = dynamic_cast<const DomainExpr*>(&expr)) {
    return std::make_unique<DomainExpr>(domain->type(), domain->form(), std::move(operands[0]));
  }
  if (const auto* boolean = dynamic_cast<const BooleanExpr*>(&expr)) {
    return std::make_unique<BooleanExpr>(boolean->kind(), std::move(operands));
  }
  if (const auto* test = dynamic_cast<const TestExpr*>(&expr)) {
    return std::make_unique<TestExpr>(test->kind(), std::move(operands[0]));
  }
  if (const auto* comparison = dynamic_cast<const ArrayComparisonExpr*>(&expr)) {
    return std::make_unique<ArrayComparisonExpr>(comparison->kind(), comparison->op(),
                                                 std::move(operands[0]), std::move(operands[1]),
                                                 comparison->place());
  }
  if (const auto* array = dynamic_cast<const ArrayExpr*>(&expr)) {
    auto copy = std::make_unique<ArrayExpr>(array->type(), array->kind(), std::move(operands));
    copy->show_elements_as(array->shown_element());
    return copy;
  }
  if (const auto* order = dynamic_cast<const RowOrderExpr*>(&expr)) {
    return order->with_operands(std::move(operands));
  }
  if (dynamic_cast<const CoalesceExpr*>(&expr) != nullptr) {
    return std::make_unique<CoalesceExpr>(expr.type(), std::move(operands));
  }
  if (const auto* xml = dynamic_cast<const XmlExpression*>(&expr)) {
    return std::make_unique<XmlExpression>(expr.type(), xml->words(), std::move(operands));
  }
  if (const auto* length = dynamic_cast<const LengthExpr*>(&expr)) {
    return std::make_unique<LengthExpr>(length->typmod(), length->coercion(),
                                        std::move(operands[0]));
  }
  return copy_json_expression(expr, std::move(operands));
}

}  // namespace

ExprPtr copy_expression(const Expr& expr, const SlotReplacement& replace) {
  check_stack();
  constexpr std::size_t kWorkOfNode = 100;
  yield_point(kWorkOfNode);
  ExprPtr copy;
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) {
    auto same =
        std::make_unique<ConstantExpr>(constant->type(), constant->typmod(), constant->value());
    same->show_as(*constant);
    copy = std::move(same);
  } else if (const auto* parameter = dynamic_cast<const ParameterExpr*>(&expr)) {
    copy = std::make_unique<ParameterExpr>(parameter->type(), parameter->index());
  } else if (const auto* slot = dynamic_cast<const SlotExpr*>(&expr)) {
    if (replace) copy = replace(*slot);
    if (copy) return copy;
    copy = std::make_unique<SlotExpr>(slot->type(), slot->typmod(), slot->slot(), slot->origin());
  } else if (const auto* parent = dynamic_cast<const OperandsExpr*>(&expr)) {
    std::vector<ExprPtr> operands;
    if (!copy_all(parent->operands(), replace, operands)) return nullptr;
    copy = copy_with_operands(expr, std::move(operands));
    if (!copy) return nullptr;
    copy->set_type(expr.type(), expr.typmod());
    if (expr.has_explicit_collation()) copy->set_collation(collation_of_type(expr.type()), true);
  } else {
    return nullptr;
  }
  copy->set_location(expr.location());
  copy->set_spelling(expr.spelling());
  return copy;
}

}  // namespace swizzle::sql
