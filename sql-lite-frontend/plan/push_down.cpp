// Pushes conditions to the place where they are cheapest: into subqueries and set operations, from
// one column to those that equal it, and derives their effect on outer joins.
#include <algorithm>
#include <deque>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/index_match.h"
#include "sql-lite-frontend/plan/leakproof.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

/// Columns that equal one another, by conditions of the same list.
class EqualColumns {
 public:
  void join(const SlotExpr& left, const SlotExpr& right) {
    auto& a = group_of(left);
    auto& b = group_of(right);
    if (&a == &b) return;
    a.insert(a.end(), b.begin(), b.end());
    b.clear();
  }
  /// Returns the slots equal to `slot`, itself among them.
  [[nodiscard]] std::span<const SlotExpr* const> equal_to(Slot slot) const {
    for (const auto& group : groups_) {
      if (std::ranges::find(group, slot, &SlotExpr::slot) != group.end()) return group;
    }
    return {};
  }

 private:
  std::vector<const SlotExpr*>& group_of(const SlotExpr& column) {
    for (auto& group : groups_) {
      if (std::ranges::find(group, column.slot(), &SlotExpr::slot) != group.end()) return group;
    }
    return groups_.emplace_back(std::vector<const SlotExpr*>{&column});
  }
  /// References to groups stay while two are joined.
  std::deque<std::vector<const SlotExpr*>> groups_;
};

/// A column of `local` compared with a value that none of their rows changes.
struct Restriction {
  const SlotExpr* column = nullptr;
  bool is_equality = false;
};

Restriction as_restriction(Expr& condition, std::span<const Slot> local) {
  const std::string_view op = ordering_operator(condition);
  if (op.empty()) return {};
  auto& operands = dynamic_cast<OperandsExpr&>(condition).mutable_operands();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const auto* column = dynamic_cast<const SlotExpr*>(operands[side].get());
    Expr& value = *operands[1 - side];
    if (column == nullptr || !reads_any(*operands[side], local)) continue;
    if (reads_any(value, local) || is_volatile(value)) continue;
    if (!copy_expression(value)) continue;
    return {column, op == "="};
  }
  return {};
}

/// Returns a function from a target's slot to its type, and from other slots to none.
std::function<TypeId(Slot)> types_of_targets(const Query& query) {
  return [&query](Slot slot) {
    const auto target = std::ranges::find(query.targets, slot, &OutputTarget::slot);
    return target == query.targets.end() ? TypeId::none : target->type;
  };
}

}  // namespace

/// Derives constants: a = b AND a < 5 implies b < 5 as well. Values of an enclosing query's row are
/// constants here.
void Planner::propagate_constants(Conditions& conditions, std::span<const Slot> local) {
  EqualColumns equal;
  bool any = false;
  for (const ExprPtr& condition : conditions) {
    const Equality equality = as_equality(*condition);
    if (equality.left == nullptr) continue;
    const auto* left = dynamic_cast<const SlotExpr*>(equality.left->get());
    const auto* right = dynamic_cast<const SlotExpr*>(equality.right->get());
    if (left == nullptr || right == nullptr || left->type() != right->type()) continue;
    if (!reads_any(**equality.left, local) || !reads_any(**equality.right, local)) continue;
    equal.join(*left, *right);
    any = true;
  }
  if (!any) return;
  Conditions derived;
  const auto is_known = [&](const Expr& condition) {
    const auto same = [&](const ExprPtr& other) { return same_expression(*other, condition); };
    return std::ranges::any_of(conditions, same) || std::ranges::any_of(derived, same);
  };
  for (const ExprPtr& condition : conditions) {
    const Restriction restriction = as_restriction(*condition, local);
    if (restriction.column == nullptr) continue;
    for (const SlotExpr* other : equal.equal_to(restriction.column->slot())) {
      if (other->slot() == restriction.column->slot()) continue;
      ExprPtr copy = copy_expression(*condition, [&](const SlotExpr& slot) -> ExprPtr {
        if (slot.slot() != restriction.column->slot()) return nullptr;
        return copy_expression(*other);
      });
      if (copy && !is_known(*copy)) derived.push_back(std::move(copy));
    }
  }
  // Two columns that equal the same value need not be compared with one another.
  std::vector<Slot> fixed;
  const auto note_fixed = [&](const ExprPtr& condition) {
    const Restriction restriction = as_restriction(*condition, local);
    if (restriction.is_equality) fixed.push_back(restriction.column->slot());
  };
  std::ranges::for_each(conditions, note_fixed);
  std::ranges::for_each(derived, note_fixed);
  const auto is_fixed = [&](const SlotExpr& column) {
    return std::ranges::find(fixed, column.slot()) != fixed.end();
  };
  take_if(conditions, [&](Expr& condition) {
    const Equality equality = as_equality(condition);
    if (equality.left == nullptr) return false;
    const auto* left = dynamic_cast<const SlotExpr*>(equality.left->get());
    const auto* right = dynamic_cast<const SlotExpr*>(equality.right->get());
    return left != nullptr && right != nullptr && left->type() == right->type() &&
           left->slot() != right->slot() && is_fixed(*left) && is_fixed(*right) && !derived.empty();
  });
  append(conditions, std::move(derived));
}

/// Turns a left join whose conditions require a right row into an inner join.
void Planner::reduce_outer_joins(FromNode& node, const Conditions& conditions) {
  check_stack();
  auto* join = std::get_if<FromJoin>(&node.node);
  if (join == nullptr) return;
  if (join->kind == JoinKind::left && join->merged.empty()) {
    std::vector<Slot> slots;
    collect_slots(*join->right, slots);
    const bool needs_right = std::ranges::any_of(conditions, [&](const ExprPtr& condition) {
      return !has_subquery(*condition) && rejects_nulls(*condition, slots);
    });
    if (needs_right) join->kind = JoinKind::inner;
  }
  if (join->kind == JoinKind::left || join->kind == JoinKind::inner) {
    reduce_outer_joins(*join->left, conditions);
  }
  if (join->kind == JoinKind::inner) {
    split_conjunctions(join->conditions);
    reduce_outer_joins(*join->right, conditions);
  }
}

void Planner::push_into(FromNode& node, Conditions& conditions) {
  Query& query = *std::get<FromSubquery>(node.node).query;
  Conditions rest;
  for (ExprPtr& condition : conditions) {
    const bool is_pushed =
        !has_subquery(*condition) && !is_volatile(*condition) && push_into(query, condition);
    if (!is_pushed) rest.push_back(std::move(condition));
  }
  conditions = std::move(rest);
}

/// Moves the condition into the query. False: the caller must still evaluate it.
bool Planner::push_into(Query& query, ExprPtr& condition) {
  check_stack();
  if (query.limit || query.offset || !query.locks.empty()) return false;
  if (query.computes_first) return false;
  if (query.is_barrier && !is_leakproof(*condition)) return false;
  switch (query.body) {
    case Query::Body::select:
      return push_into_select(query, condition);
    case Query::Body::set_operation:
      return push_into_set_operation(query, condition);
    case Query::Body::values:
      return false;
  }
  return false;
}

/// Returns the condition with the query's columns replaced by the expressions that it computes them
/// from. Null if one of them cannot be copied, may change from one evaluation to the next, or is
/// large: copied from level to level of nested queries it would double each time.
ExprPtr Planner::in_terms_of(const Expr& condition, const Query& query) {
  constexpr std::size_t kMostNodes = 1000;
  bool can = true;
  std::size_t nodes = 0;
  ExprPtr inside = copy_expression(condition, [&](const SlotExpr& slot) -> ExprPtr {
    const auto target = std::ranges::find(query.targets, slot.slot(), &OutputTarget::slot);
    if (target == query.targets.end()) return nullptr;
    if (!target->expr || is_volatile(*target->expr)) {
      can = false;
      return nullptr;
    }
    walk(*target->expr, [&](Expr&) { ++nodes; });
    can &= nodes <= kMostNodes;
    ExprPtr copy = can ? copy_expression(*target->expr) : nullptr;
    can &= copy != nullptr;
    return copy;
  });
  return can ? std::move(inside) : nullptr;
}

bool Planner::push_into_select(Query& query, ExprPtr& condition) {
  if (!query.sets.empty() || query.distinct == Query::DistinctKind::on) return false;
  const bool merges = query.distinct == Query::DistinctKind::all || !query.windows.empty();
  if (merges && tells_equal_texts_apart(*condition, types_of_targets(query))) return false;
  if (!query.windows.empty()) return push_past_windows(query, *condition);
  bool can = true;
  bool reads_aggregates = false;
  const auto key_of = [&](Slot slot) {
    return std::ranges::find(query.group_keys, slot, &GroupKey::slot);
  };
  ExprPtr inside = in_terms_of(*condition, query);
  if (!inside) return false;
  if (!query.grouped) {
    query.where.push_back(std::move(inside));
    return true;
  }
  // Before grouping, only conditions that read the keys alone may be checked.
  ExprPtr before = copy_expression(*inside, [&](const SlotExpr& slot) -> ExprPtr {
    const auto key = key_of(slot.slot());
    if (key == query.group_keys.end()) {
      reads_aggregates |= std::ranges::any_of(
          query.aggregates, [&](const AggregateCall& call) { return call.slot == slot.slot(); });
      reads_aggregates |= std::ranges::find(query.carried, slot.slot()) != query.carried.end();
      return nullptr;
    }
    ExprPtr copy = is_volatile(*key->expr) ? nullptr : copy_expression(*key->expr);
    can &= copy != nullptr;
    return copy;
  });
  // In a grouping set without the key it is NULL.
  const bool is_one_set = query.grouping_sets.sets.empty();
  const auto type_of_key = [&](Slot slot) {
    const auto key = key_of(slot);
    return key == query.group_keys.end() ? TypeId::none : key->expr->type();
  };
  can = can && is_one_set && !query.group_keys.empty();
  if (before && can && !reads_aggregates && !tells_equal_texts_apart(*inside, type_of_key)) {
    query.where.push_back(std::move(before));
  } else {
    query.having.push_back(std::move(inside));
  }
  return true;
}

bool Planner::push_into_set_operation(Query& query, ExprPtr& condition) {
  // A copy for each side, in terms of its columns.
  for (const auto& target : query.targets) {
    if (target.expr) return false;
  }
  const bool merges = query.set_kind != Query::SetKind::union_ || !query.set_all;
  if (merges && tells_equal_texts_apart(*condition, types_of_targets(query))) return false;
  const auto for_side = [&](const Query& side) {
    return copy_expression(*condition, [&](const SlotExpr& slot) -> ExprPtr {
      const auto target = std::ranges::find(query.targets, slot.slot(), &OutputTarget::slot);
      if (target == query.targets.end()) return nullptr;
      const auto place = static_cast<std::size_t>(target - query.targets.begin());
      const OutputTarget& column = side.targets[place];
      return std::make_unique<SlotExpr>(column.type, column.typmod, column.slot, slot.origin());
    });
  };
  ExprPtr left = for_side(*query.left);
  ExprPtr right = for_side(*query.right);
  if (!left || !right) return false;
  const bool left_asks = push_into(*query.left, left);
  const bool right_asks = push_into(*query.right, right);
  // The caller still evaluates the condition unless both sides have taken it.
  return left_asks && right_asks;
}

}  // namespace swizzle::sql
