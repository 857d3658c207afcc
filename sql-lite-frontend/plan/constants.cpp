#include "sql-lite-frontend/plan/constants.h"

#include <algorithm>

#include "sql-lite-frontend/types/time_types.h"

namespace swizzle::sql {
namespace {

bool is_immutable(const Function* function) noexcept {
  return function != nullptr && function->volatility == Volatility::immutable;
}

/// now(), and what is computed from it by the session's time zone.
bool is_foreseeable(const Function* function) noexcept {
  return is_immutable(function) || (function != nullptr && is_time(function->result) &&
                                    function->volatility == Volatility::stable);
}

/// Pre: it is a FunctionExpr or a CastExpr.
std::span<const ExprPtr> operands_of(const Expr& expr) {
  return dynamic_cast<const OperandsExpr&>(expr).operands();
}

bool is_foreseeable(const Expr& expr, const Execution& execution) {
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return true;
  if (const auto* parameter = dynamic_cast<const ParameterExpr*>(&expr)) {
    return parameter->index() < execution.parameters.size();
  }
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    if (!is_foreseeable(&call->function())) return false;
  } else if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    const CastMethod method = cast->cast().method;
    if (method == CastMethod::function && !is_foreseeable(cast->cast().function)) return false;
    if (method != CastMethod::function && method != CastMethod::relabel) return false;
  } else {
    return false;
  }
  return std::ranges::all_of(operands_of(expr), [&](const ExprPtr& operand) {
    return is_foreseeable(*operand, execution);
  });
}

/// What every operand may be: a constant, or computed from such by what always gives the same.
enum class Shape : std::uint8_t { constant, computed, open };

Shape shape_of(const Expr& expr) {
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return Shape::constant;
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    if (!is_immutable(&call->function())) return Shape::open;
  } else if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    const CastMethod method = cast->cast().method;
    if (method == CastMethod::function && !is_immutable(cast->cast().function)) return Shape::open;
    if (method != CastMethod::function && method != CastMethod::relabel) return Shape::open;
  } else {
    return Shape::open;
  }
  const bool is_closed = std::ranges::all_of(
      operands_of(expr), [](const ExprPtr& operand) { return shape_of(*operand) != Shape::open; });
  return is_closed ? Shape::computed : Shape::open;
}

/// Computes every greatest part without variables. Throws what that throws.
void compute_constants(const Expr& expr, Execution& execution) {
  switch (shape_of(expr)) {
    case Shape::constant:
      return;
    case Shape::computed:
      static_cast<void>(expr.eval(execution));
      return;
    case Shape::open:
      break;
  }
  const bool computes_all = dynamic_cast<const FunctionExpr*>(&expr) != nullptr ||
                            dynamic_cast<const CastExpr*>(&expr) != nullptr;
  if (!computes_all) return;
  for (const ExprPtr& operand : operands_of(expr)) compute_constants(*operand, execution);
}

}  // namespace

std::optional<Value> foreseen_value(const Expr& expr, Execution& execution) {
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) return constant->value();
  if (!is_foreseeable(expr, execution)) return std::nullopt;
  try {
    return expr.eval(execution);
  } catch (const SqlError&) {
    return std::nullopt;
  }
}

std::optional<SqlError> constant_failure(const Query& query, Execution& execution) {
  std::optional<SqlError> failure;
  try {
    for (const OutputTarget& target : query.targets) {
      if (target.expr) compute_constants(*target.expr, execution);
    }
    for (const ExprPtr& condition : query.where) compute_constants(*condition, execution);
    for (const ExprPtr& condition : query.having) compute_constants(*condition, execution);
  } catch (SqlError& error) {
    failure.emplace(std::move(error));
  }
  return failure;
}

}  // namespace swizzle::sql
