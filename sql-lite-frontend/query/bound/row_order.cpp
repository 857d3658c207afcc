#include "sql-lite-frontend/query/bound/row_order.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/query/bound/types_of_call.h"

namespace swizzle::sql {

Value RowOrderExpr::evaluate(Execution& execution) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::array<Value, 2> pair{operands_[2 * i]->eval(execution),
                                    operands_[2 * i + 1]->eval(execution)};
    if (pair[0].is_null() || pair[1].is_null()) return Value::null();
    // Tell the comparison its types: they carry the collations.
    const std::array types{operands_[2 * i]->type(), operands_[2 * i + 1]->type()};
    const TypesOfCall told{execution.functions, types};
    const auto holds = [&](const Operator* op) {
      return call_function(*op->function, execution.functions, pair);
    };
    if (i + 1 == fields_.size()) return holds(fields_[i].asked);
    if (!holds(fields_[i].equal).as_bool()) return holds(fields_[i].less);
  }
  return Value::null();
}

void RowOrderExpr::print(ExprPrinter& printer) const {
  printer.out += "(";
  for (std::size_t side = 0; side < 2; ++side) {
    if (side > 0) printer.out += fmt::format(" {} ", fields_[0].asked->name);
    printer.out += "ROW(";
    for (std::size_t i = side; i < operands_.size(); i += 2) {
      if (i > 1) printer.out += ", ";
      printer.print(*operands_[i]);
    }
    printer.out += ")";
  }
  printer.out += ")";
}

std::unique_ptr<RowOrderExpr> RowOrderExpr::with_operands(std::vector<ExprPtr> operands) const {
  auto copy = std::make_unique<RowOrderExpr>(fields_, std::move(operands));
  copy->has_lead_ = has_lead_;
  return copy;
}

ExprPtr RowOrderExpr::take_lead() {
  if (has_lead_) return nullptr;
  std::vector<ExprPtr> first;
  for (ExprPtr& operand : std::span{operands_}.first(2)) {
    ExprPtr copy = is_volatile(*operand) ? nullptr : copy_expression(*operand);
    if (!copy) return nullptr;
    first.push_back(std::move(copy));
  }
  has_lead_ = true;
  const Operator& weak = *fields_[0].weak;
  return std::make_unique<FunctionExpr>(*weak.function, &weak, TypeId::bool_, std::move(first));
}

}  // namespace swizzle::sql
