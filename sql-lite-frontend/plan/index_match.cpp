#include "sql-lite-frontend/plan/index_match.h"

#include <algorithm>

#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {
namespace {

using Kind = IndexCondition::Kind;

Kind commuted(Kind kind) {
  switch (kind) {
    case Kind::less:
      return Kind::more;
    case Kind::at_most:
      return Kind::at_least;
    case Kind::more:
      return Kind::less;
    case Kind::at_least:
      return Kind::at_most;
    default:
      return kind;
  }
}

Kind kind_of(std::string_view op) {
  if (op == "<") return Kind::less;
  if (op == "<=") return Kind::at_most;
  if (op == ">") return Kind::more;
  if (op == ">=") return Kind::at_least;
  return Kind::equal;
}

bool is_free_of(Expr& expr, std::span<const Slot> own) {
  return !reads_any(expr, own) && !is_volatile(expr);
}

/// The same column, or the same expression of it.
bool same_operand(const Expr& left, const Expr& right) {
  const SlotExpr* a = as_column(left);
  const SlotExpr* b = as_column(right);
  if (a != nullptr && b != nullptr) return a->slot() == b->slot();
  return same_expression(left, right);
}

/// True if x `given` a implies x `wanted` b.
bool bound_implies(const IndexCondition& given, const IndexCondition& wanted,
                   const ColumnKnowledge& known) {
  if (given.value == nullptr || wanted.value == nullptr) return false;
  if ((*given.value)->type() != (*wanted.value)->type()) return false;
  const std::optional<Value> a = known.given(**given.value);
  const std::optional<Value> b = known.given(**wanted.value);
  if (!a || !b || a->is_null() || b->is_null()) return false;
  const CompareFunction compare = compare_function((*given.value)->type());
  if (compare == nullptr) return false;
  const int order = compare(*a, *b);
  switch (wanted.kind) {
    case Kind::equal:
      return given.kind == Kind::equal && order == 0;
    case Kind::less:
      return (given.kind == Kind::equal || given.kind == Kind::at_most)
                 ? order < 0
                 : given.kind == Kind::less && order <= 0;
    case Kind::at_most:
      return (given.kind == Kind::equal || given.kind == Kind::at_most ||
              given.kind == Kind::less) &&
             order <= 0;
    case Kind::more:
      return (given.kind == Kind::equal || given.kind == Kind::at_least)
                 ? order > 0
                 : given.kind == Kind::more && order >= 0;
    case Kind::at_least:
      return (given.kind == Kind::equal || given.kind == Kind::at_least ||
              given.kind == Kind::more) &&
             order >= 0;
    default:
      return false;
  }
}

}  // namespace

std::optional<IndexCondition> as_index_condition(Expr& condition, std::span<const Slot> own) {
  if (auto* any = dynamic_cast<ArrayComparisonExpr*>(&condition)) {
    const Operator& op = any->op();
    if (any->kind() != ArrayComparisonExpr::Kind::any || op.name != "=" || op.left != op.right) {
      return std::nullopt;
    }
    auto& operands = any->mutable_operands();
    if (!reads_any(*operands[0], own) || !is_free_of(*operands[1], own)) return std::nullopt;
    return IndexCondition{Kind::any_of, operands[0].get(), &operands[1]};
  }
  if (auto* test = dynamic_cast<TestExpr*>(&condition)) {
    auto& operand = test->mutable_operands()[0];
    if (test->kind() != TestExpr::Kind::is_not_null || !reads_any(*operand, own) ||
        shape_of(operand->type()) == Shape::record) {
      return std::nullopt;
    }
    return IndexCondition{Kind::not_null, operand.get(), nullptr};
  }
  const std::string_view op = ordering_operator(condition);
  if (op.empty()) return std::nullopt;
  auto& operands = dynamic_cast<OperandsExpr&>(condition).mutable_operands();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ExprPtr& value = operands[1 - side];
    if (!reads_any(*operands[side], own) || !is_free_of(*value, own)) continue;
    const Kind kind = side == 0 ? kind_of(op) : commuted(kind_of(op));
    return IndexCondition{kind, operands[side].get(), &value};
  }
  return std::nullopt;
}

namespace {

/// A built-in operator, or one over a function that came with an extension.
std::string_view element_operator(const Expr& condition) {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&condition)) {
    return call->op() == nullptr ? std::string_view{} : call->op()->name;
  }
  const auto* made = dynamic_cast<const RoutineExpr*>(&condition);
  if (made == nullptr || made->written().op == nullptr || made->routine().language != "c")
    return {};
  return made->written().op->name;
}

}  // namespace

std::optional<ElementCondition> as_element_condition(Expr& condition, std::span<const Slot> own) {
  const std::string_view op = element_operator(condition);
  if (op.empty()) return std::nullopt;
  auto& operands = dynamic_cast<OperandsExpr&>(condition).mutable_operands();
  if (operands.size() != 2) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    Expr& value = *operands[1 - side];
    if (!reads_any(*operands[side], own) || !is_free_of(value, own)) continue;
    return ElementCondition{op, side == 0 ? OperandSide::left : OperandSide::right,
                            operands[side].get(), &value};
  }
  return std::nullopt;
}

std::optional<Alternatives> as_alternatives(Expr& condition, std::span<const Slot> own) {
  auto* disjunction = dynamic_cast<BooleanExpr*>(&condition);
  if (disjunction == nullptr || disjunction->kind() != BooleanExpr::Kind::disjunction) {
    return std::nullopt;
  }
  Alternatives found;
  for (ExprPtr& branch : disjunction->mutable_operands()) {
    std::vector<Expr*> parts{branch.get()};
    auto* both = dynamic_cast<BooleanExpr*>(branch.get());
    if (both != nullptr && both->kind() == BooleanExpr::Kind::conjunction) {
      parts.clear();
      for (ExprPtr& part : both->mutable_operands()) parts.push_back(part.get());
    }
    if (parts.size() > 2) return std::nullopt;
    std::vector<IndexCondition> list;
    for (Expr* part : parts) {
      const auto known = as_index_condition(*part, own);
      if (!known || known->kind == Kind::any_of || known->kind == Kind::not_null) {
        return std::nullopt;
      }
      if (found.operand == nullptr) found.operand = known->operand;
      if (!same_operand(*found.operand, *known->operand)) return std::nullopt;
      list.push_back(*known);
    }
    if (list.size() == 2) {
      const auto is_low = [](const IndexCondition& bound) {
        return bound.kind == Kind::more || bound.kind == Kind::at_least;
      };
      const bool has_equality = list[0].kind == Kind::equal || list[1].kind == Kind::equal;
      if (has_equality || is_low(list[0]) == is_low(list[1])) return std::nullopt;
    }
    found.branches.push_back(std::move(list));
  }
  return found;
}

Follows follows(Expr& wanted, std::span<Expr* const> given, std::span<const Slot> own,
                const ColumnKnowledge& known) {
  for (const Expr* condition : given) {
    if (same_expression(wanted, *condition)) return Follows::yes;
  }
  const auto goal = as_index_condition(wanted, own);
  if (!goal) return Follows::no;
  Follows found = Follows::no;
  for (Expr* condition : given) {
    if (goal->kind == Kind::not_null) {
      const SlotExpr* column = as_column(*goal->operand);
      if (column == nullptr) continue;
      const Slot slots[] = {column->slot()};
      if (rejects_nulls(*condition, slots)) return Follows::yes;
      continue;
    }
    const auto bound = as_index_condition(*condition, own);
    if (!bound || !same_operand(*bound->operand, *goal->operand)) continue;
    if (bound_implies(*bound, *goal, known)) return Follows::yes;
    if (bound->value != nullptr && known.awaits_values(**bound->value)) found = Follows::by_values;
  }
  return found;
}

bool rejects_nulls(const Expr& condition, std::span<const Slot> slots) {
  check_stack();
  if (const auto* slot = dynamic_cast<const SlotExpr*>(&condition)) {
    return std::ranges::find(slots, slot->slot()) != slots.end();
  }
  const auto any_operand = [&](std::span<const ExprPtr> operands) {
    return std::ranges::any_of(
        operands, [&](const ExprPtr& operand) { return rejects_nulls(*operand, slots); });
  };
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&condition)) {
    return call->function().strict && any_operand(call->operands());
  }
  if (const auto* cast = dynamic_cast<const CastExpr*>(&condition)) {
    return rejects_nulls(cast->operand(), slots);
  }
  if (const auto* any = dynamic_cast<const ArrayComparisonExpr*>(&condition)) {
    // ALL of an empty array is true whatever the left side is.
    return any->kind() == ArrayComparisonExpr::Kind::any && any->op().function->strict &&
           rejects_nulls(*any->operands()[0], slots);
  }
  if (const auto* test = dynamic_cast<const TestExpr*>(&condition)) {
    return (test->kind() == TestExpr::Kind::is_not_null ||
            test->kind() == TestExpr::Kind::is_true || test->kind() == TestExpr::Kind::is_false) &&
           shape_of(test->operands()[0]->type()) != Shape::record &&
           rejects_nulls(*test->operands()[0], slots);
  }
  if (const auto* boolean = dynamic_cast<const BooleanExpr*>(&condition)) {
    switch (boolean->kind()) {
      case BooleanExpr::Kind::conjunction:
        return any_operand(boolean->operands());
      case BooleanExpr::Kind::disjunction:
        return std::ranges::all_of(boolean->operands(), [&](const ExprPtr& operand) {
          return rejects_nulls(*operand, slots);
        });
      case BooleanExpr::Kind::negation:
        // NOT of a NULL is NULL; of a false value it is true.
        return dynamic_cast<const FunctionExpr*>(boolean->operands()[0].get()) != nullptr &&
               rejects_nulls(*boolean->operands()[0], slots);
    }
  }
  return false;
}

}  // namespace swizzle::sql
