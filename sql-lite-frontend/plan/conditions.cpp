#include "sql-lite-frontend/plan/conditions.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

void split_conjunctions(std::vector<ExprPtr>& conditions) {
  std::vector<ExprPtr> out;
  const auto split = [&](auto& self, ExprPtr condition) -> void {
    check_stack();
    auto* boolean = dynamic_cast<BooleanExpr*>(condition.get());
    if (boolean == nullptr || boolean->kind() != BooleanExpr::Kind::conjunction) {
      out.push_back(std::move(condition));
      return;
    }
    for (ExprPtr& operand : boolean->mutable_operands()) self(self, std::move(operand));
  };
  for (ExprPtr& condition : conditions) split(split, std::move(condition));
  conditions = std::move(out);
}

void add_leads_of_rows(std::vector<ExprPtr>& conditions) {
  std::vector<ExprPtr> out;
  for (ExprPtr& condition : conditions) {
    auto* const order = dynamic_cast<RowOrderExpr*>(condition.get());
    if (ExprPtr lead = order == nullptr ? nullptr : order->take_lead()) {
      out.push_back(std::move(lead));
    }
    out.push_back(std::move(condition));
  }
  conditions = std::move(out);
}

std::vector<Slot> slots_read(Expr& expr) {
  std::vector<Slot> slots;
  walk(expr, [&](Expr& part) {
    if (const auto* column = dynamic_cast<const SlotExpr*>(&part)) {
      slots.push_back(column->slot());
    } else if (const auto* subquery = dynamic_cast<const SubqueryExpr*>(&part)) {
      slots.insert(slots.end(), subquery->outer_slots.begin(), subquery->outer_slots.end());
    }
  });
  return slots;
}

bool reads_any(Expr& expr, std::span<const Slot> slots) {
  return std::ranges::any_of(
      slots_read(expr), [&](Slot slot) { return std::ranges::find(slots, slot) != slots.end(); });
}

bool reads_only(Expr& expr, std::span<const Slot> allowed, std::span<const Slot> all_local) {
  return std::ranges::all_of(slots_read(expr), [&](Slot slot) {
    return std::ranges::find(allowed, slot) != allowed.end() ||
           std::ranges::find(all_local, slot) == all_local.end();
  });
}

namespace {

/// For an extension's type: the operator's function is the extension's own.
std::string_view extension_ordering_operator(const RoutineExpr& call) {
  const OperatorPtr& op = call.written().op;
  if (op == nullptr || op->left != op->right || !is_of_extension(op->left)) return {};
  const Routine& routine = call.routine();
  if (routine.language != "c") return {};
  constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"<", "_lt"}, {"<=", "_le"}, {"=", "_eq"}, {">=", "_ge"}, {">", "_gt"}};
  for (const auto& [name, ending] : kOperators) {
    const std::string_view function = routine.body;
    if (op->name == name && function.ends_with(ending) && !function.contains("pattern")) {
      return name;
    }
  }
  return {};
}

}  // namespace

namespace {

/// True if values of the two types have one order, as text and name have, which PostgreSQL has in
/// one operator family.
bool share_order(TypeId left, TypeId right) {
  if (left == right) return true;
  const auto is_text = [](TypeId type) { return type == TypeId::text || type == TypeId::name; };
  return is_text(left) && is_text(right);
}

}  // namespace

std::string_view ordering_operator(const Expr& condition) {
  if (const auto* made = dynamic_cast<const RoutineExpr*>(&condition)) {
    return extension_ordering_operator(*made);
  }
  const auto* call = dynamic_cast<const FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr || call->operands().size() != 2) return {};
  const Operator& op = *call->op();
  // Keys of types with different orders do not compare as bytes.
  if (!share_order(op.left, op.right) || op.result != TypeId::bool_) return {};
  const Operator* equality = equality_operator(op.left);
  if (equality == nullptr || equality->left != op.left) return {};
  for (const std::string_view name : {"<", "<=", "=", ">=", ">"}) {
    if (op.name == name) return op.name;
  }
  return {};
}

bool tells_equal_texts_apart(Expr& condition, const std::function<TypeId(Slot)>& merged_type) {
  std::size_t columns = 0;
  bool compares_otherwise = false;
  walk(condition, [&](Expr& part) {
    const auto* column = dynamic_cast<const SlotExpr*>(&part);
    if (column == nullptr) return;
    const TypeId merged = merged_type(column->slot());
    if (!is_collated(merged) || !is_nondeterministic(collation_of_type(merged))) return;
    ++columns;
    // A comparison gives its operands its own collation.
    compares_otherwise |= column->type() != merged;
  });
  if (columns == 0) return false;
  // A comparison under the column's own collation treats them alike.
  if (compares_otherwise || ordering_operator(condition).empty()) return true;
  const auto& operands = dynamic_cast<const OperandsExpr&>(condition).operands();
  if (operands[0]->type() != operands[1]->type()) return true;
  const auto is_column = [](const ExprPtr& operand) {
    return dynamic_cast<const SlotExpr*>(operand.get()) != nullptr;
  };
  return static_cast<std::size_t>(std::ranges::count_if(operands, is_column)) != columns;
}

Equality as_equality(Expr& condition) {
  if (ordering_operator(condition) != "=") return {nullptr, nullptr};
  auto& operands = dynamic_cast<OperandsExpr&>(condition).mutable_operands();
  return {operands.data(), operands.data() + 1};
}

const SlotExpr* as_column(const Expr& expr) {
  if (const auto* column = dynamic_cast<const SlotExpr*>(&expr)) return column;
  const auto* cast = dynamic_cast<const CastExpr*>(&expr);
  if (cast == nullptr || cast->cast().method != CastMethod::relabel) return nullptr;
  // Relabelling between types of one shape keeps their keys the same bytes, under one collation.
  // The order is that of the operand's type.
  const TypeId source = without_collation(cast->operand().type());
  const TypeId target = without_collation(cast->type());
  if (shape_of(source) != shape_of(target)) return nullptr;
  if (value_type(source).order.put_key != value_type(target).order.put_key) return nullptr;
  return dynamic_cast<const SlotExpr*>(&cast->operand());
}

}  // namespace swizzle::sql
