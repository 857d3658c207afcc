// Window functions: the order that each window needs, and the rows of it that are read.
#include <algorithm>

#include "sql-lite-frontend/execution/grouping/rank_rows.h"
#include "sql-lite-frontend/execution/sorting/leading_rows.h"
#include "sql-lite-frontend/execution/sorting/sort.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

bool is_slot(const ExprPtr& expr) {
  return dynamic_cast<const SlotExpr*>(expr.get()) != nullptr;
}

std::vector<SortKey> copied(std::span<const SortKey> keys) {
  std::vector<SortKey> copies;
  for (const SortKey& key : keys) {
    copies.push_back({copy_expression(*key.expr), key.direction, key.nulls});
  }
  return copies;
}

/// Partition keys, then those of the order.
std::vector<SortKey> order_of(const WindowDefinition& window) {
  std::vector<SortKey> keys = copied(window.partition);
  std::ranges::move(copied(window.order), std::back_inserter(keys));
  return keys;
}

/// Returns the last row number of a partition that is needed; null: all rows are needed, or the
/// number is not known in advance.
const Expr* last_row(const WindowDefinition& window) {
  for (const RankCondition& wanted : window.wanted) {
    if (wanted.last_number != nullptr) return wanted.last_number;
  }
  return nullptr;
}

/// True if the expression is a partition key of every window.
bool is_key_of_all(std::span<const WindowDefinition> windows, const Expr& expr) {
  return std::ranges::all_of(windows, [&](const WindowDefinition& window) {
    return std::ranges::any_of(
        window.partition, [&](const SortKey& key) { return same_expression(*key.expr, expr); });
  });
}

/// Returns `condition` on the query's columns in terms of its windows' inputs and results; null if
/// that is not possible.
ExprPtr below_targets(const Query& query, const Expr& condition,
                      const std::function<bool(const Expr&)>& may_read) {
  bool can = true;
  ExprPtr inside = copy_expression(condition, [&](const SlotExpr& slot) -> ExprPtr {
    const auto target = std::ranges::find(query.targets, slot.slot(), &OutputTarget::slot);
    if (target == query.targets.end()) return nullptr;
    if (!target->expr || !may_read(*target->expr)) {
      can = false;
      return nullptr;
    }
    // A window's result has its name in the query.
    const auto* read = dynamic_cast<const SlotExpr*>(target->expr.get());
    if (read != nullptr && read->origin().name.empty()) {
      return std::make_unique<SlotExpr>(read->type(), read->typmod(), read->slot(), slot.origin());
    }
    ExprPtr copy = copy_expression(*target->expr);
    can &= copy != nullptr;
    return copy;
  });
  return can ? std::move(inside) : nullptr;
}

bool is_integer(const Expr& expr) {
  return expr.type() == TypeId::int2 || expr.type() == TypeId::int4 || expr.type() == TypeId::int8;
}

/// Returns "<", "<=", "=", ">=" or ">" of two integers of any width; empty for other conditions.
std::string_view integer_comparison(const Expr& condition) {
  const auto* call = dynamic_cast<const FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr) return {};
  if (call->operands().size() != 2 || call->op()->result != TypeId::bool_) return {};
  if (!is_integer(*call->operands()[0]) || !is_integer(*call->operands()[1])) return {};
  for (const std::string_view name : {"<", "<=", "=", ">=", ">"}) {
    if (call->op()->name == name) return name;
  }
  return {};
}

/// Returns the condition if it compares a ranking call with a value that is the same for all rows.
std::optional<RankCondition> as_rank_condition(const Query& query, const Expr& condition) {
  const WindowDefinition& window = query.windows.front();
  if (query.windows.size() != 1 || !RankRows::can_give(window.calls)) return std::nullopt;
  const auto call_of = [&](const Expr& expr) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&expr);
    return slot == nullptr ? window.calls.end()
                           : std::ranges::find(window.calls, slot->slot(), &WindowCall::slot);
  };
  const std::string_view op = integer_comparison(condition);
  if (op.empty()) return std::nullopt;
  RankCondition found;
  found.condition = below_targets(
      query, condition, [&](const Expr& target) { return call_of(target) != window.calls.end(); });
  if (!found.condition) return std::nullopt;
  auto& operands = dynamic_cast<FunctionExpr&>(*found.condition).mutable_operands();
  const std::size_t side = call_of(*operands[0]) != window.calls.end() ? 0 : 1;
  const auto call = call_of(*operands[side]);
  Expr& value = *operands[1 - side];
  const bool ends = op == "=" || op.starts_with(side == 0 ? '<' : '>');
  if (call == window.calls.end() || !ends) return std::nullopt;
  for (const WindowCall& each : window.calls) {
    if (reads_any(value, {&each.slot, 1})) return std::nullopt;
  }
  found.begins_false = op == "=";
  const bool is_known = dynamic_cast<const ConstantExpr*>(&value) != nullptr ||
                        dynamic_cast<const ParameterExpr*>(&value) != nullptr;
  if (call->kind == WindowFunctionKind::row_number && is_known) {
    found.last_number = &value;
  }
  return found;
}

}  // namespace

bool Planner::begins_with(std::span<const SortKey> present, std::span<const SortKey> wanted) {
  const auto same = [](const SortKey& left, const SortKey& right) {
    return left.direction == right.direction && left.nulls == right.nulls &&
           same_expression(*left.expr, *right.expr);
  };
  return wanted.size() <= present.size() &&
         std::ranges::equal(wanted, present.first(wanted.size()), same);
}

/// Returns the order in which the first window wants the rows of FROM; empty if no access can give
/// it.
std::vector<SortKey> Planner::window_order(const Query& query) {
  if (query.windows.empty() || query.grouped) return {};
  for (const SetItem& item : query.sets) {
    if (item.below_grouping) return {};
  }
  std::vector<SortKey> keys = order_of(query.windows.front());
  if (!std::ranges::all_of(keys, is_slot, &SortKey::expr)) keys.clear();
  return keys;
}

double Planner::rows_wanted_of(const WindowDefinition& window) {
  if (!window.partition.empty()) return kAllRows;
  const auto* last = dynamic_cast<const ConstantExpr*>(last_row(window));
  if (last == nullptr || last->value().is_null()) return kAllRows;
  return std::max(1.0, static_cast<double>(last->value().as_int8()));
}

/// Moves a condition below the query's windows if it keeps or drops whole partitions. False: the
/// caller must still evaluate it. A condition on a rank only tells the window where it may stop.
bool Planner::push_past_windows(Query& query, const Expr& condition) {
  if (auto wanted = as_rank_condition(query, condition)) {
    query.windows.front().wanted.push_back(std::move(*wanted));
    return false;
  }
  ExprPtr inside = below_targets(
      query, condition, [&](const Expr& target) { return is_key_of_all(query.windows, target); });
  if (!inside || is_volatile(*inside)) return false;
  (query.grouped ? query.having : query.where).push_back(std::move(inside));
  return true;
}

/// Sorts for each window, unless its rows come in an order that begins with its own. `present` is
/// the order in which they come and, afterwards, go.
PlanPtr Planner::add_windows(PlanPtr plan, std::vector<WindowDefinition> windows,
                             std::vector<SortKey>& present) {
  check_stack_for(windows.size());
  for (WindowDefinition& window : windows) {
    std::vector<ComputedSlot> computed;
    for (std::vector<SortKey>* keys : {&window.partition, &window.order}) {
      for (SortKey& key : *keys) {
        if (is_slot(key.expr)) continue;
        const Slot slot = binder_.new_slot();
        auto in_slot = std::make_unique<SlotExpr>(key.expr->type(), key.expr->typmod(), slot,
                                                  SlotExpr::Origin{});
        computed.push_back({slot, std::exchange(key.expr, std::move(in_slot))});
      }
    }
    if (!computed.empty()) {
      const Expected input{*plan};
      plan = over(std::make_unique<Project>(std::move(plan), std::move(computed)), input);
    }
    const Expr* const last = last_row(window);
    std::vector<SortKey> wanted = order_of(window);
    if (!begins_with(present, wanted)) {
      const bool is_whole = window.partition.empty();
      if (last != nullptr && !is_whole && !window.order.empty()) {
        const Expected input{*plan};
        plan = over(std::make_unique<LeadingRows>(std::move(plan), copied(window.partition),
                                                  copied(window.order), copy_expression(*last)),
                    input);
      }
      plan = sorted(std::move(plan), copied(wanted), rows_wanted_of(window));
      if (last != nullptr && is_whole) dynamic_cast<Sort&>(*plan).set_bound(last, nullptr);
      present = std::move(wanted);
    }
    const Expected input{*plan};
    const double more = input.rows * cost::kKeep;
    if (RankRows::can_give(window.calls)) {
      plan = over(std::make_unique<RankRows>(std::move(plan), std::move(window.partition),
                                             std::move(window.order), std::move(window.calls),
                                             std::move(window.wanted)),
                  input, more);
    } else {
      plan = over(std::make_unique<Window>(std::move(plan), std::move(window.partition),
                                           std::move(window.order), std::move(window.frame),
                                           std::move(window.calls)),
                  input, more);
    }
  }
  return plan;
}

}  // namespace swizzle::sql
