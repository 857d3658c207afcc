#include <algorithm>

#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/query/parse/one_value.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/body.h"
#include "sql-lite-frontend/routines/routine_services.h"
#include "sql-lite-frontend/types/cast_volatility.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

template <class T>
bool is(const Expr& expr) {
  return dynamic_cast<const T*>(&expr) != nullptr;
}

/// CASE with a subject keeps it in a slot of the frame that the body was bound for.
bool is_searched_case(const Expr& expr) {
  const auto* const branches = dynamic_cast<const CaseExpr*>(&expr);
  return branches != nullptr && !branches->has_subject();
}

/// True for expressions that compute their value from their operands alone and keep no state in a
/// run.
bool is_plain(const Expr& expr) {
  return is<ConstantExpr>(expr) || is<ParameterExpr>(expr) || is<FunctionExpr>(expr) ||
         is<CastExpr>(expr) || is<LengthExpr>(expr) || is<BooleanExpr>(expr) ||
         is<TestExpr>(expr) || is<CoalesceExpr>(expr) || is<GreatestExpr>(expr) ||
         is<DistinctExpr>(expr) || is<RowOrderExpr>(expr) || is_searched_case(expr);
}

/// NULL where any operand is.
bool is_strict(const Expr& expr) {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) return call->function().strict;
  return is<ConstantExpr>(expr) || is<ParameterExpr>(expr) || is<CastExpr>(expr) ||
         is<LengthExpr>(expr);
}

/// True if the expression is cheap enough to be evaluated several times.
bool is_cheap(const Expr& expr) {
  return is<ConstantExpr>(expr) || is<ParameterExpr>(expr) || is<SlotExpr>(expr);
}

/// Returns the volatility of the expression.
Volatility volatility_within(Expr& expr) {
  Volatility most = Volatility::immutable;
  walk(expr, [&](Expr& part) {
    if (const auto* call = dynamic_cast<const FunctionExpr*>(&part)) {
      most = std::max(most, call->function().volatility);
    } else if (const auto* cast = dynamic_cast<const CastExpr*>(&part)) {
      most = std::max(most, cast_volatility(cast->cast()));
    }
  });
  return most;
}

class Inliner {
 public:
  Inliner(StatementContext& session, Arena& arena) : session_(session), arena_(arena) {}

  void visit(PlanOperator& step) {
    check_stack();
    step.for_each_expression([this](ExprPtr& expr) { visit(expr); });
    step.for_each_input([this](PlanPtr& input) {
      if (input) visit(*input);
    });
  }

 private:
  void visit(ExprPtr& expr) {
    check_stack();
    if (!expr) return;
    expr->for_each_operand([this](ExprPtr& operand) { visit(operand); });
    if (auto* subquery = dynamic_cast<SubqueryExpr*>(expr.get())) {
      if (subquery->plan()) visit(*subquery->plan());
      return;
    }
    auto* call = dynamic_cast<RoutineExpr*>(expr.get());
    if (call == nullptr) return;
    if (ExprPtr body = body_of(*call)) {
      body->set_location(expr->location());
      expr = std::move(body);
    }
  }

  /// Null: it is to be called.
  ExprPtr body_of(RoutineExpr& call) {
    const Routine& routine = call.routine();
    const CallableRoutine& callable = *call.call()->callable;
    const bool may_be = routine.language == "sql" && !routine.security_definer &&
                        routine.settings.empty() && !callable.has_columns() &&
                        routine.result != TypeId::void_ && call.type() != TypeId::record;
    if (!may_be) return nullptr;
    ExprPtr body = read_body(call);
    if (!body) return nullptr;
    std::vector<std::size_t> uses(call.operands().size(), 0);
    bool fits = volatility_within(*body) <= callable.function.volatility;
    walk(*body, [&](Expr& part) {
      fits = fits && is_plain(part) && (!routine.strict || is_strict(part));
      const auto* parameter = dynamic_cast<const ParameterExpr*>(&part);
      if (parameter == nullptr) return;
      if (parameter->index() < uses.size()) {
        ++uses[parameter->index()];
      } else {
        fits = false;
      }
    });
    for (std::size_t i = 0; fits && i < uses.size(); ++i) {
      if (uses[i] == 1) continue;
      fits = uses[i] > 1 ? is_cheap(*call.operands()[i])
                         : !routine.strict && !is_volatile(*call.operands()[i]);
    }
    if (!fits) return nullptr;
    put_arguments(body, call.mutable_operands());
    return body;
  }

  /// Parses and binds the body, with the routine's parameters as parameters.
  ExprPtr read_body(const RoutineExpr& call) {
    try {
      const RoutineCall& called = *call.call();
      const RoutinePtr& routine = called.callable->routine;
      const std::vector<BodyPart> parts = body_parts(*routine);
      if (parts.size() != 1) return nullptr;
      Arena parse_arena;
      const auto parsed = parse_script(parse_arena, parts[0].text);
      const auto* select = ast::try_as<ast::SelectStmt>(parsed[0]->stmt);
      if (select == nullptr || !selects_one_value(*select)) return nullptr;
      const BodyNames names = body_names(routine);
      Binder binder{session_.names, arena_};
      binder.allow_parameters(called.parameter_types());
      binder.enter_body(names);
      binder.compute_virtual_columns();
      const std::unique_ptr<Query> query = binder.bind_select(*select, nullptr);
      const bool has_more = !query->aggregates.empty() || !query->sets.empty() ||
                            !query->windows.empty() || !binder.pending().empty() ||
                            binder.is_single_use() || query->targets.size() != 1 ||
                            binder.looked_up_objects() || !binder.types_read().empty();
      if (has_more || !query->targets[0].expr) return nullptr;
      return as_result(std::move(query->targets[0].expr), call.type());
    } catch (const SqlError&) {
      // The call itself reports the error.
      return nullptr;
    }
  }

  static ExprPtr as_result(ExprPtr expr, TypeId type) {
    if (expr->type() == type) return expr;
    // The call determines the result's collation; an expression inside has its own.
    if (is_collated(expr->type()) || is_collated(type)) return nullptr;
    // The result's domain constraints are checked only by a call.
    if (is_domain(type)) return nullptr;
    const auto cast = find_cast(expr->type(), type, CastContext::assignment);
    if (!cast) return nullptr;
    return std::make_unique<CastExpr>(*cast, CastForm::implicit, std::move(expr));
  }

  static void put_arguments(ExprPtr& expr, std::vector<ExprPtr>& arguments) {
    check_stack();
    if (const auto* parameter = dynamic_cast<const ParameterExpr*>(expr.get())) {
      ExprPtr& argument = arguments[parameter->index()];
      expr = is_cheap(*argument) ? copy_expression(*argument) : std::move(argument);
      return;
    }
    expr->for_each_operand([&](ExprPtr& operand) { put_arguments(operand, arguments); });
  }

  StatementContext& session_;
  Arena& arena_;
};

}  // namespace

void inline_routines(StatementContext& session, Arena& arena, PlanOperator& root) {
  Inliner{session, arena}.visit(root);
}

}  // namespace swizzle::sql
