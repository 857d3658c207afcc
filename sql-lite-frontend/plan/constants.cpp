#include "sql-lite-frontend/plan/constants.h"

#include <algorithm>
#include <functional>

#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/datetime/time_types.h"

namespace swizzle::sql {
namespace {

bool is_immutable(const Function* function) noexcept {
  return function != nullptr && function->volatility == Volatility::immutable;
}

/// now(), and functions computed from it by the session's time zone.
bool is_foreseeable(const Function* function) noexcept {
  return is_immutable(function) || (function != nullptr && is_time(function->result) &&
                                    function->volatility == Volatility::stable);
}

/// Pre: it is a FunctionExpr or a CastExpr.
std::span<const ExprPtr> operands_of(const Expr& expr) {
  return dynamic_cast<const OperandsExpr&>(expr).operands();
}

bool is_foreseeable(const Expr& expr, const Execution& execution) {
  check_stack();
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return true;
  if (const auto* parameter = dynamic_cast<const ParameterExpr*>(&expr)) {
    return parameter->index() < execution.parameters.size();
  }
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    if (!is_foreseeable(&call->function())) return false;
  } else if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    const CastMethod method = cast->cast().method;
    if (method == CastMethod::function && !is_foreseeable(cast->cast().function)) return false;
    if (method != CastMethod::function && !keeps_bits(method)) return false;
  } else {
    return false;
  }
  return std::ranges::all_of(operands_of(expr), [&](const ExprPtr& operand) {
    return is_foreseeable(*operand, execution);
  });
}

/// Treatment of parameters: as constants, or not.
enum class Parameters : std::uint8_t { open, constant };

/// Kind of an operand: a constant, or computed from constants by immutable operations.
enum class Composition : std::uint8_t { constant, computed, open };

Composition composition_of(const Expr& expr, Parameters parameters) {
  check_stack();
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return Composition::constant;
  if (dynamic_cast<const ParameterExpr*>(&expr) != nullptr) {
    return parameters == Parameters::constant ? Composition::constant : Composition::open;
  }
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) {
    if (!is_immutable(&call->function())) return Composition::open;
  } else if (const auto* cast = dynamic_cast<const CastExpr*>(&expr)) {
    const CastMethod method = cast->cast().method;
    if (method == CastMethod::function && !is_immutable(cast->cast().function))
      return Composition::open;
    if (method != CastMethod::function && !keeps_bits(method)) return Composition::open;
  } else {
    return Composition::open;
  }
  const bool is_closed = std::ranges::all_of(operands_of(expr), [&](const ExprPtr& operand) {
    return composition_of(*operand, parameters) != Composition::open;
  });
  return is_closed ? Composition::computed : Composition::open;
}

bool is_computed_without_parameters(const Expr& expr) {
  return composition_of(expr, Parameters::open) == Composition::computed;
}

/// True if the operand decides the result, so that later ones are not computed.
bool decides(const BooleanExpr& boolean, const Value& operand) {
  if (operand.is_null() || boolean.kind() == BooleanExpr::Kind::negation) return false;
  return operand.as_bool() == (boolean.kind() == BooleanExpr::Kind::disjunction);
}

/// Returns the part's value if it is computed.
using Visit = std::function<std::optional<Value>(const Expr&)>;

/// Neither the value nor an error of an operand hangs on that of another.
bool computes_all_operands(const Expr& expr) {
  return dynamic_cast<const FunctionExpr*>(&expr) != nullptr ||
         dynamic_cast<const CastExpr*>(&expr) != nullptr ||
         dynamic_cast<const ArrayComparisonExpr*>(&expr) != nullptr ||
         dynamic_cast<const ArrayExpr*>(&expr) != nullptr ||
         dynamic_cast<const RowExpr*>(&expr) != nullptr ||
         dynamic_cast<const TestExpr*>(&expr) != nullptr ||
         dynamic_cast<const DistinctExpr*>(&expr) != nullptr ||
         dynamic_cast<const GreatestExpr*>(&expr) != nullptr ||
         dynamic_cast<const LengthExpr*>(&expr) != nullptr ||
         dynamic_cast<const DomainExpr*>(&expr) != nullptr ||
         dynamic_cast<const CollateExpr*>(&expr) != nullptr;
}

std::optional<Value> visit_computed(const Expr& expr, Parameters parameters, const Visit& visit);

/// Value that determines if other operands are computed.
struct Decided {
  bool is_fixed = false;       ///< by constants and parameters
  std::optional<Value> value;  ///< if it is known
};
Decided visit_choice(const Expr& expr, Parameters parameters, const Visit& visit) {
  Decided decided;
  decided.is_fixed = composition_of(expr, Parameters::constant) != Composition::open;
  decided.value = visit_computed(expr, parameters, visit);
  return decided;
}

/// Visits the branches that may be computed. A branch that constants exclude is never computed; for
/// one that parameters decide it is not known yet.
void visit_case(const CaseExpr& choice, Parameters parameters, const Visit& visit) {
  if (choice.has_subject()) return;
  const std::span<const ExprPtr> operands = choice.operands();
  std::size_t i = 0;
  for (; i + 1 < operands.size(); i += 2) {
    const Decided decided = visit_choice(*operands[i], parameters, visit);
    if (decided.is_fixed && !decided.value) return;
    const bool is_never =
        decided.is_fixed && (decided.value->is_null() || !decided.value->as_bool());
    if (is_never) continue;
    static_cast<void>(visit_computed(*operands[i + 1], parameters, visit));
    if (decided.is_fixed) return;
  }
  if (i < operands.size()) static_cast<void>(visit_computed(*operands[i], parameters, visit));
}

/// Visits every greatest part without variables; the value if that is all of the expression.
std::optional<Value> visit_computed(const Expr& expr, Parameters parameters, const Visit& visit) {
  check_stack();
  switch (composition_of(expr, parameters)) {
    case Composition::constant:
      if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) return constant->value();
      return std::nullopt;
    case Composition::computed:
      // A call that is always NULL computes none of its operands, but their errors count.
      if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr);
          call != nullptr && call->is_always_null()) {
        for (const ExprPtr& operand : call->operands())
          static_cast<void>(visit_computed(*operand, parameters, visit));
      }
      return visit(expr);
    case Composition::open:
      break;
  }
  if (const auto* choice = dynamic_cast<const CaseExpr*>(&expr)) {
    visit_case(*choice, parameters, visit);
    return std::nullopt;
  }
  if (const auto* choice = dynamic_cast<const CoalesceExpr*>(&expr)) {
    for (const ExprPtr& operand : choice->operands()) {
      const Decided decided = visit_choice(*operand, parameters, visit);
      if (decided.is_fixed && !(decided.value && decided.value->is_null())) break;
    }
    return std::nullopt;
  }
  const auto* boolean = dynamic_cast<const BooleanExpr*>(&expr);
  const bool computes_all = boolean != nullptr || computes_all_operands(expr);
  if (!computes_all) return std::nullopt;
  for (const ExprPtr& operand : operands_of(expr)) {
    const std::optional<Value> value = visit_computed(*operand, parameters, visit);
    if (boolean != nullptr && value && decides(*boolean, *value)) break;
  }
  return std::nullopt;
}

void visit_computed(std::span<const ExprPtr> list, Parameters parameters, const Visit& visit) {
  for (const ExprPtr& expr : list) static_cast<void>(visit_computed(*expr, parameters, visit));
}

void visit_computed(std::span<const Assignment> assignments, Parameters parameters,
                    const Visit& visit) {
  for (const Assignment& assignment : assignments) {
    if (assignment.expr) static_cast<void>(visit_computed(*assignment.expr, parameters, visit));
  }
}

void visit_computed(const WriteStatement& write, Parameters parameters, const Visit& visit) {
  if (write.kind == WriteKind::insert) return;
  visit_computed(write.assignments, parameters, visit);
  visit_computed(write.rows.where, parameters, visit);
  if (!write.merge) return;
  visit_computed(write.merge->on, parameters, visit);
  for (const MergeAction& action : write.merge->actions) {
    visit_computed(action.conditions, parameters, visit);
    visit_computed(action.assignments, parameters, visit);
  }
}

void visit_conditions(const FromNode& from, Parameters parameters, const Visit& visit) {
  check_stack();
  const auto* const join = std::get_if<FromJoin>(&from.node);
  if (join == nullptr) return;
  visit_conditions(*join->left, parameters, visit);
  visit_conditions(*join->right, parameters, visit);
  visit_computed(join->conditions, parameters, visit);
}

void visit_computed(const Query& query, Parameters parameters, const Visit& visit) {
  check_stack();
  for (const OutputTarget& target : query.targets) {
    if (target.expr) static_cast<void>(visit_computed(*target.expr, parameters, visit));
  }
  for (const FromPtr& from : query.from) visit_conditions(*from, parameters, visit);
  visit_computed(query.where, parameters, visit);
  for (const GroupKey& key : query.group_keys)
    static_cast<void>(visit_computed(*key.expr, parameters, visit));
  for (const AggregateCall& call : query.aggregates) {
    visit_computed(call.arguments, parameters, visit);
    if (call.filter) static_cast<void>(visit_computed(*call.filter, parameters, visit));
  }
  visit_computed(query.having, parameters, visit);
  for (const SortKey& key : query.order)
    static_cast<void>(visit_computed(*key.expr, parameters, visit));
  for (const auto* const part : {&query.left, &query.right}) {
    if (*part) visit_computed(**part, parameters, visit);
  }
}

}  // namespace

Fixed how_fixed(const Expr& expr) {
  if (composition_of(expr, Parameters::open) != Composition::open) return Fixed::always;
  return composition_of(expr, Parameters::constant) != Composition::open ? Fixed::by_parameters
                                                                         : Fixed::no;
}

std::optional<Value> foreseen_value(const Expr& expr, Execution& execution) {
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) return constant->value();
  if (!is_foreseeable(expr, execution)) return std::nullopt;
  try {
    return expr.eval(execution);
  } catch (const SqlError&) {
    return std::nullopt;
  }
}

namespace {

template <class Statement>
std::optional<SqlError> failure_in(const Statement& statement, Execution& execution) {
  std::optional<SqlError> failure;
  try {
    visit_computed(statement, Parameters::open,
                   [&](const Expr& part) -> std::optional<Value> { return part.eval(execution); });
  } catch (SqlError& error) {
    failure.emplace(std::move(error));
  }
  return failure;
}

template <class Statement>
std::vector<ExprPtr> from_parameters_in(const Statement& statement) {
  std::vector<ExprPtr> parts;
  visit_computed(statement, Parameters::constant, [&](const Expr& part) -> std::optional<Value> {
    if (!is_computed_without_parameters(part)) {
      if (ExprPtr copy = copy_expression(part)) parts.push_back(std::move(copy));
    }
    return std::nullopt;
  });
  return parts;
}

}  // namespace

std::optional<SqlError> constant_failure(const Query& query, Execution& execution) {
  return failure_in(query, execution);
}
std::optional<SqlError> constant_failure(const WriteStatement& write, Execution& execution) {
  return failure_in(write, execution);
}

std::vector<ExprPtr> computed_from_parameters(const Query& query) {
  return from_parameters_in(query);
}
std::vector<ExprPtr> computed_from_parameters(const WriteStatement& write) {
  return from_parameters_in(write);
}

}  // namespace swizzle::sql
