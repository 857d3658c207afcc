#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bind/boolean_expressions.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/types/extension/extension_operators.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool is_constant_like(Expr& expr) {
  bool constant = true;
  walk(expr, [&](Expr& part) {
    if (dynamic_cast<const SlotExpr*>(&part) != nullptr ||
        dynamic_cast<const SubqueryExpr*>(&part) != nullptr) {
      constant = false;
    }
  });
  return constant;
}

}  // namespace

ExprPtr ExpressionBinder::call_operator(const OperatorName& name, ExprPtr left, ExprPtr right,
                                        std::int32_t location) {
  if (ExprPtr made = call_made_operator(name, left, right, location)) return made;
  const TypeId left_type = left ? left->type() : TypeId::none;
  OperatorCall call{.name = name.name,
                    .left = left_type,
                    .right = right->type(),
                    .position = location + 1,
                    .schema = name.schema,
                    .casts = names_.made_casts()};
  std::vector<const Operator*> candidates;
  if (is_of_extension(without_collation(left_type)) ||
      is_of_extension(without_collation(right->type()))) {
    // An extension's operators are found where the search path leads to them.
    candidates = operators_not_of_extensions(name.name);
    call.candidates = candidates;
  }
  const ResolvedOperator resolved = resolve_operator(call);
  const DerivedCollation collation = merge_collations(names_, left, right);
  std::vector<ExprPtr> operands;
  if (left) {
    operands.push_back(coerce(std::move(left), resolved.left, kNoTypmod, Implicitness::implicit));
  }
  operands.push_back(coerce(std::move(right), resolved.right, kNoTypmod, Implicitness::implicit));
  const Operator& op = collated(*resolved.op, operands, collation);
  auto expr =
      std::make_unique<FunctionExpr>(*op.function, &op, resolved.result, std::move(operands));
  apply_collation(*expr, collation);
  expr->set_location(location);
  return expr;
}

ExprPtr ExpressionBinder::comparison(std::string_view op, ExprPtr left, ExprPtr right,
                                     std::int32_t location) {
  return call_operator(op, std::move(left), std::move(right), location);
}

ExprPtr ExpressionBinder::bind_operator_node(const ast::A_Expr& node, Scope& scope) {
  using Kind = ast::A_Expr_Kind;
  switch (node.kind) {
    case Kind::in:
      return bind_in(node, scope);
    case Kind::between:
    case Kind::not_between:
    case Kind::between_sym:
    case Kind::not_between_sym:
      return bind_between(node, scope);
    case Kind::distinct:
    case Kind::not_distinct:
      return bind_distinct(node, scope);
    case Kind::op_any:
    case Kind::op_all:
      return bind_quantified(node, scope);
    case Kind::nullif: {
      ExprPtr value = bind_expression(node.lexpr, scope);
      ExprPtr other = bind_expression(node.rexpr, scope);
      if (value->type() == TypeId::unknown && other->type() == TypeId::unknown) {
        value = coerce(std::move(value), TypeId::text, kNoTypmod, Implicitness::implicit);
      }
      // The result gets the type that "=" takes on its left: text for a varchar.
      const ResolvedOperator resolved =
          resolve_operator("=", value->type(), other->type(), node.location + 1);
      value = coerce(std::move(value), resolved.left, kNoTypmod, Implicitness::implicit);
      ScopeColumn kept;
      kept.slot = new_slot();
      kept.type = value->type();
      kept.typmod = value->typmod();
      ExprPtr subject = slot_expr(kept);
      if (value->has_explicit_collation())
        subject->set_collation(collation_of_type(kept.type), true);
      ExprPtr equality = call_operator("=", std::move(subject), std::move(other), node.location);
      auto expr =
          std::make_unique<NullIfExpr>(kept.type, std::move(value), std::move(equality), kept.slot);
      expr->set_type(kept.type, kept.typmod);
      return expr;
    }
    case Kind::op:
    case Kind::like:
    case Kind::ilike:
    case Kind::similar:
    case Kind::undefined:
      break;
  }
  const std::string_view name = ast::string_of(node.name.back());
  if (ExprPtr rows = bind_rows_beside(name, node.lexpr, node.rexpr, scope, node.location)) {
    return rows;
  }
  ExprPtr left = node.lexpr != nullptr ? bind_expression(node.lexpr, scope) : nullptr;
  ExprPtr right = bind_expression(node.rexpr, scope);
  const OperatorName op = operator_name(node.name);
  if (op.name != "=" || !op.schema.empty()) {
    return call_operator(op, std::move(left), std::move(right), node.location);
  }
  const bool is_left = as_row_identity(left.get()) != nullptr;
  ExprPtr& number = is_left ? right : left;
  SessionFunctionExpr* const identity = as_row_identity(is_left ? left.get() : right.get());
  if (identity == nullptr || as_row_identity(number.get()) != nullptr) {
    return call_operator(op, std::move(left), std::move(right), node.location);
  }
  // A view's text is printed from what is bound; the planner finds its rows.
  if (open_view_ != nullptr) {
    return call_operator(op, std::move(left), std::move(right), node.location);
  }
  // ctid = $1 becomes a condition on the row's key, by which the row is found.
  number = coerce(std::move(number), TypeId::tid, kNoTypmod, Implicitness::implicit);
  if (!is_constant_like(*number) || is_volatile(*number) || !copy_expression(*number)) {
    return call_operator(op, std::move(left), std::move(right), node.location);
  }
  const bool writes = scope.query == nullptr && scope.clause == Clause::where;
  const RowIdentityFunctions& identities = names_.row_identity_functions();
  return found_by_key(*identity, std::move(number),
                      writes ? identities.key_to_write : identities.key, node.location);
}

ExprPtr ExpressionBinder::bind_in(const ast::A_Expr& node, Scope& scope) {
  const bool negative = ast::string_of(node.name.back()) == "<>";
  const auto& list = ast::as<ast::List>(node.rexpr);
  const auto finish = [&](ExprPtr expr) {
    if (!negative) return expr;
    expr = negated(std::move(expr));
    expr->set_spelling(Spelling::keywords);
    return expr;
  };

  if (ast::is<ast::RowExpr>(node.lexpr)) return finish(row_among(node, scope));

  ExprPtr left = bind_expression(node.lexpr, scope);
  std::vector<ExprPtr> elements;
  std::vector<TypeId> types{left->type()};
  bool simple = true;
  bool all_untyped = true;
  bool has_rows = is_composite(base_type(left->type()));
  for (const ast::Node* item : list.items) {
    elements.push_back(bind_expression(item, scope));
    types.push_back(elements.back()->type());
    simple &= is_constant_like(*elements.back());
    all_untyped &= elements.back()->type() == TypeId::unknown;
    has_rows |= shape_of(elements.back()->type()) == Shape::record;
  }
  if (has_rows) return finish(composite_among(node, scope, std::move(left), std::move(elements)));
  if (simple && elements.size() > 1) {
    // Use one array of the common type, if there is one; otherwise resolve each alternative alone.
    std::optional<TypeId> common;
    try {
      common = select_common_type(types, "IN", node.location + 1);
    } catch (const SqlError&) {
      common.reset();
    }
    const TypeId array = common ? array_type(*common) : TypeId::none;
    const auto resolved =
        array != TypeId::none ? try_resolve_operator("=", left->type(), *common) : std::nullopt;
    std::vector<const Expr*> compared{left.get()};
    for (const ExprPtr& element : elements) compared.push_back(element.get());
    const DerivedCollation collation = merge_collations(names_, compared);
    if (resolved) {
      const TypeId element = resolved->right;
      const TypeId element_array = array_type(element);
      if (element_array != TypeId::none) {
        // As in PostgreSQL, 'a' and 'b' in a list with a regclass are names, not numbers.
        const bool names_objects = *common != element && element == TypeId::oid;
        for (ExprPtr& expr : elements) {
          if (names_objects)
            expr = coerce(std::move(expr), *common, kNoTypmod, Implicitness::implicit);
          expr = coerce(std::move(expr), element, kNoTypmod, Implicitness::implicit);
        }
        left = coerce(std::move(left), resolved->left, kNoTypmod, Implicitness::implicit);
        std::vector<ExprPtr> operands;
        operands.push_back(std::move(left));
        auto listed = std::make_unique<ArrayExpr>(element_array, ArrayExpr::Kind::elements,
                                                  std::move(elements));
        if (*common != element && all_untyped) listed->show_elements_as(*common);
        operands.push_back(std::move(listed));
        return finish(array_comparison(ArrayComparisonExpr::Kind::any, *resolved->op,
                                       std::move(operands), collation, node.location));
      }
    }
  }
  std::vector<ExprPtr> alternatives;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    ExprPtr subject = i == 0 ? std::move(left) : bind_subject_again(node.lexpr, scope);
    alternatives.push_back(
        call_operator("=", std::move(subject), std::move(elements[i]), node.location));
  }
  return finish(boolean(BooleanExpr::Kind::disjunction, std::move(alternatives)));
}

ExprPtr ExpressionBinder::bind_between(const ast::A_Expr& node, Scope& scope) {
  using Kind = ast::A_Expr_Kind;
  const auto& bounds = ast::as<ast::List>(node.rexpr);
  const bool outside = node.kind == Kind::not_between || node.kind == Kind::not_between_sym;
  const bool symmetric = node.kind == Kind::between_sym || node.kind == Kind::not_between_sym;
  const auto both = outside ? BooleanExpr::Kind::disjunction : BooleanExpr::Kind::conjunction;
  const auto either = outside ? BooleanExpr::Kind::conjunction : BooleanExpr::Kind::disjunction;
  const auto compared = [&](std::string_view op, const ast::Node* bound) {
    if (ExprPtr rows = bind_rows_beside(op, node.lexpr, bound, scope, node.location)) return rows;
    return call_operator(op, bind_expression(node.lexpr, scope), bind_expression(bound, scope),
                         node.location);
  };
  const ast::Node* const low = bounds.items[0];
  const ast::Node* const high = bounds.items[1];
  const std::string_view above = outside ? "<" : ">=";
  const std::string_view below = outside ? ">" : "<=";
  ExprPtr first = compared(above, low);
  // An operand that is bound twice may contain the same construct, so each level doubles the work.
  const RepeatedBinding::Again again{repeated_};
  ExprPtr expr = boolean(both, list_of(std::move(first), compared(below, high)));
  if (symmetric) {
    ExprPtr turned = compared(above, high);
    turned = boolean(both, list_of(std::move(turned), compared(below, low)));
    expr = boolean(either, list_of(std::move(expr), std::move(turned)));
  }
  return expr;
}

ExprPtr ExpressionBinder::bind_distinct(const ast::A_Expr& node, Scope& scope) {
  const auto kind = node.kind == ast::A_Expr_Kind::distinct ? DistinctExpr::Kind::distinct
                                                            : DistinctExpr::Kind::not_distinct;
  const auto* const left_row = ast::try_as<ast::RowExpr>(node.lexpr);
  const auto* const right_row = ast::try_as<ast::RowExpr>(node.rexpr);
  if (left_row == nullptr || right_row == nullptr) {
    return distinction(kind, bind_expression(node.lexpr, scope), bind_expression(node.rexpr, scope),
                       node.location);
  }
  return row_distinction(kind, *left_row, *right_row, scope, node.location);
}

ExprPtr ExpressionBinder::distinction(DistinctExpr::Kind kind, ExprPtr left, ExprPtr right,
                                      std::int32_t location) {
  const ResolvedOperator resolved =
      resolve_operator("=", left->type(), right->type(), location + 1);
  const DerivedCollation collation = merge_collations(names_, left, right);
  std::vector<ExprPtr> operands =
      list_of(coerce(std::move(left), resolved.left, kNoTypmod, Implicitness::implicit),
              coerce(std::move(right), resolved.right, kNoTypmod, Implicitness::implicit));
  const Operator& op = collated(*resolved.op, operands, collation);
  return std::make_unique<DistinctExpr>(kind, *op.function, std::move(operands));
}

ExprPtr ExpressionBinder::bind_quantified(const ast::A_Expr& node, Scope& scope) {
  const auto kind = node.kind == ast::A_Expr_Kind::op_any ? ArrayComparisonExpr::Kind::any
                                                          : ArrayComparisonExpr::Kind::all;
  const std::string_view name = ast::string_of(node.name.back());
  ExprPtr left = bind_expression(node.lexpr, scope);
  ExprPtr array = bind_expression(node.rexpr, scope);
  TypeId element = TypeId::unknown;
  if (array->type() != TypeId::unknown) {
    element = element_type(array->type());
    if (element == TypeId::none) {
      throw SqlError{sqlstate::wrong_object_type, "op ANY/ALL (array) requires array on right side"}
          .at_position(node.location + 1);
    }
  }
  const ResolvedOperator resolved =
      resolve_operator(name, left->type(), element, node.location + 1);
  if (resolved.result != TypeId::bool_) {
    throw SqlError{sqlstate::wrong_object_type,
                   "op ANY/ALL (array) requires operator to yield boolean"}
        .at_position(node.location + 1);
  }
  const DerivedCollation collation = merge_collations(names_, left, array);
  const TypeId wanted = array_type(resolved.right);
  return array_comparison(
      kind, *resolved.op,
      list_of(coerce(std::move(left), resolved.left, kNoTypmod, Implicitness::implicit),
              coerce(std::move(array), wanted, kNoTypmod, Implicitness::implicit)),
      collation, node.location);
}

/// Makes the comparison. Its operands are the compared value and the array.
ExprPtr ExpressionBinder::array_comparison(ArrayComparisonExpr::Kind kind, const Operator& op,
                                           std::vector<ExprPtr> operands,
                                           const DerivedCollation& collation,
                                           std::int32_t location) {
  if (kind == ArrayComparisonExpr::Kind::any && op.name == "=" && open_view_ == nullptr) {
    if (ExprPtr found = found_by_keys(operands, location)) return found;
  }
  const Operator& under = collated(op, operands, collation);
  auto expr = std::make_unique<ArrayComparisonExpr>(kind, under, std::move(operands[0]),
                                                    std::move(operands[1]), new_state());
  expr->set_location(location);
  return expr;
}

}  // namespace swizzle::sql
