// EXISTS, IN and their negations in WHERE, as joins.
//
// A subquery's condition on a row of the FROM clause is evaluated in one of three ways: as a semi-
// or anti-join by hash or index lookups; if the subquery has few rows, as a relation of distinct
// rows, from which lookups go into the large one; and otherwise as an expression, row by row.
#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

bool contains(std::span<const Slot> slots, Slot slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

bool any_among(std::span<const Slot> some, std::span<const Slot> slots) {
  return std::ranges::any_of(some, [&](Slot slot) { return contains(slots, slot); });
}

std::size_t subqueries_in(Expr& expr) {
  std::size_t count = 0;
  walk(expr, [&](Expr& part) { count += dynamic_cast<const SubqueryExpr*>(&part) != nullptr; });
  return count;
}

/// Returns false for LIMIT 1 of an EXISTS, which does not change its result.
bool is_limited(const Query& query, SubqueryExpr::Kind kind) {
  if (!query.limit && !query.offset) return false;
  const auto* limit = dynamic_cast<const ConstantExpr*>(query.limit.get());
  return kind != SubqueryExpr::Kind::exists || query.offset || limit == nullptr ||
         limit->value().is_null() || limit->value().as_int8() < 1;
}

/// True if the subquery's rows are those of FROM that satisfy WHERE, duplicates aside, and ignoring
/// the rest of the query changes no result.
bool is_plain(const Query& query, SubqueryExpr::Kind kind) {
  const auto has_none = [](const ExprPtr& expr) { return !expr || !has_subquery(*expr); };
  return query.body == Query::Body::select && !query.from.empty() && !query.grouped &&
         query.having.empty() && query.windows.empty() && query.sets.empty() &&
         query.distinct != Query::DistinctKind::on && !is_limited(query, kind) &&
         query.locks.empty() && query.eager.empty() && query.correlated.empty() &&
         !query.reads_working_table &&
         std::ranges::all_of(query.targets, has_none, &OutputTarget::expr) &&
         std::ranges::all_of(query.order, has_none, &SortKey::expr) &&
         std::ranges::none_of(query.where, [](const ExprPtr& expr) { return is_volatile(*expr); });
}

/// The slots of tables that no outer join fills with NULLs.
void collect_certain(const FromNode& node, std::vector<Slot>& slots) {
  check_stack();
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    for (std::size_t i = 0; i < table->table->relation.columns.size(); ++i) {
      slots.push_back(table->first_slot + static_cast<Slot>(i));
    }
  } else if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    if (join->kind == JoinKind::inner || join->kind == JoinKind::left) {
      collect_certain(*join->left, slots);
    }
    if (join->kind == JoinKind::inner || join->kind == JoinKind::right) {
      collect_certain(*join->right, slots);
    }
  }
}

/// Returns the comparison in terms of the expressions that the query computes its columns from;
/// null if that is not possible.
ExprPtr comparison_inside(SubqueryExpr& subquery, const Query& query) {
  const auto is_column = [](const OutputTarget& target) {
    const auto* slot = dynamic_cast<const SlotExpr*>(target.expr.get());
    return slot != nullptr && slot->slot() == target.slot;
  };
  if (std::ranges::all_of(query.targets, is_column)) return std::move(subquery.comparison());
  bool can = true;
  ExprPtr inside = copy_expression(*subquery.comparison(), [&](const SlotExpr& slot) -> ExprPtr {
    const auto target = std::ranges::find(query.targets, slot.slot(), &OutputTarget::slot);
    if (target == query.targets.end()) return nullptr;
    ExprPtr copy =
        !target->expr || is_volatile(*target->expr) ? nullptr : copy_expression(*target->expr);
    can &= copy != nullptr;
    return copy;
  });
  return can ? std::move(inside) : nullptr;
}

/// All that the query reads, side by side.
FromPtr joined(std::vector<FromPtr> items) {
  FromPtr all = std::move(items.front());
  for (std::size_t i = 1; i < items.size(); ++i) {
    FromJoin join;
    join.left = std::move(all);
    join.right = std::move(items[i]);
    all = from_node(std::move(join));
  }
  return all;
}

OutputTarget column_target(const SlotExpr& column) {
  OutputTarget target;
  target.expr = copy_expression(column);
  target.type = column.type();
  target.typmod = column.typmod();
  target.slot = column.slot();
  target.origin = column.origin();
  return target;
}

}  // namespace

bool Planner::is_never_null(const Expr& expr, std::span<const Slot> certain) const {
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) {
    return !constant->value().is_null();
  }
  const SlotExpr* column = as_column(expr);
  if (column == nullptr || !contains(certain, column->slot())) return false;
  const ColumnKnowledge::Column* known = known_.find(column->slot());
  return known != nullptr && known->not_null;
}

/// Returns nothing if the subquery is better evaluated as an expression; then nothing is changed.
std::optional<Planner::SemiJoin> Planner::as_semi_join(Expr& condition, std::span<const Slot> all,
                                                       const std::vector<FromPtr>& items) {
  SemiJoin join;
  Expr* asked = &condition;
  if (auto* boolean = dynamic_cast<BooleanExpr*>(asked);
      boolean != nullptr && boolean->kind() == BooleanExpr::Kind::negation) {
    join.kind = JoinKind::anti;
    asked = boolean->mutable_operands()[0].get();
  }
  auto* subquery = dynamic_cast<SubqueryExpr*>(asked);
  if (subquery == nullptr) return std::nullopt;
  const bool is_exists = subquery->kind() == SubqueryExpr::Kind::exists;
  if (!is_exists && subquery->kind() != SubqueryExpr::Kind::any) return std::nullopt;
  // A condition that reads none of our rows is evaluated once.
  if (!reads_any(condition, all) || is_volatile(condition)) return std::nullopt;
  // A subquery among its operands would be lost.
  if (subqueries_in(condition) != 1) return std::nullopt;
  const auto pending = std::ranges::find(binder_.pending(), subquery, &PendingSubquery::expr);
  if (pending == binder_.pending().end() || !pending->query) return std::nullopt;
  Query& query = *pending->query;
  const bool plain = is_plain(query, subquery->kind());
  if (!plain && (is_exists || join.kind == JoinKind::anti || !query.outer_slots.empty())) {
    return std::nullopt;
  }
  // EXISTS reads no columns of its subqueries; IN reads one, which may be computed.
  if (plain && is_exists) static_cast<void>(pull_up(query.from, query.where));
  if (plain) {
    for (const FromPtr& item : query.from) learn(*item);
  }
  if (!is_exists && join.kind == JoinKind::anti) {
    // A NULL on either side makes NOT IN unknown where an anti-join would keep the row.
    std::vector<Slot> certain;
    for (const FromPtr& item : items) collect_certain(*item, certain);
    for (const FromPtr& item : query.from) collect_certain(*item, certain);
    const Equality equality = as_equality(*subquery->comparison());
    if (equality.left == nullptr || query.targets.size() != 1 || !query.targets[0].expr) {
      return std::nullopt;
    }
    const auto* output = dynamic_cast<const SlotExpr*>(equality.right->get());
    if (output == nullptr || output->slot() != query.targets[0].slot ||
        !is_never_null(**equality.left, certain) ||
        !is_never_null(*query.targets[0].expr, certain)) {
      return std::nullopt;
    }
  }
  if (!is_exists) {
    ExprPtr comparison =
        plain ? comparison_inside(*subquery, query) : std::move(subquery->comparison());
    if (!comparison) return std::nullopt;
    if (plain) binder_.join_by_keys(comparison);
    join.conditions.push_back(std::move(comparison));
  }
  if (plain) {
    append(join.conditions, std::move(query.where));
    join.node = joined(std::move(query.from));
    pending->query.reset();
  } else {
    join.node = from_node(FromSubquery{std::move(pending->query), {}});
  }
  split_conjunctions(join.conditions);
  for (const ExprPtr& part : join.conditions) {
    for (const Slot slot : slots_read(*part)) {
      if (contains(all, slot)) join.reads.push_back(slot);
    }
  }
  for (const Slot slot : outer_slots_of(*join.node)) {
    if (contains(all, slot)) join.reads.push_back(slot);
  }
  return join;
}

double Planner::expected_rows(const FromNode& node, std::span<const ExprPtr> conditions) {
  const auto* table = std::get_if<FromTable>(&node.node);
  if (table == nullptr) return rows_alone(node);
  const std::vector<Slot> own = [&] {
    std::vector<Slot> slots;
    collect_slots(node, slots);
    return slots;
  }();
  std::vector<Expr*> local;
  for (const ExprPtr& condition : conditions) {
    const std::vector<Slot> read = slots_read(*condition);
    const bool is_local =
        !read.empty() && std::ranges::all_of(read, [&](Slot slot) { return contains(own, slot); });
    if (is_local) local.push_back(condition.get());
  }
  return paths_.best(*table, local, nullptr, AccessPaths::Identity::none).rows;
}

/// Joins the subquery as a relation of its distinct rows. False if it has too many rows beside
/// those of the outer query, or if the join's conditions are not all equalities of columns.
bool Planner::join_as_relation(SemiJoin& join, std::vector<FromPtr>& items,
                               std::vector<Relation>& relations, const Conditions& conditions,
                               const WantedOrder* order) {
  if (join.kind != JoinKind::semi) return false;
  std::vector<Slot> own;
  collect_slots(*join.node, own);
  const std::vector<Slot> all = slots_of(relations);
  double outer_rows = 1;
  for (const Relation& relation : relations) {
    outer_rows = std::max(outer_rows, expected_rows(*relation.node, conditions));
  }
  if (any_among(outer_slots_of(*join.node), all)) return false;
  std::vector<const SlotExpr*> columns;
  for (const ExprPtr& condition : join.conditions) {
    if (!reads_any(*condition, all)) continue;
    const Equality equality = as_equality(*condition);
    if (equality.left == nullptr || !is_indexable((*equality.left)->type())) return false;
    const bool is_left = reads_any(**equality.left, own);
    Expr& inner = is_left ? **equality.left : **equality.right;
    Expr& outer = is_left ? **equality.right : **equality.left;
    const auto* column = dynamic_cast<const SlotExpr*>(&inner);
    if (column == nullptr || !contains(own, column->slot())) return false;
    if (reads_any(outer, own)) return false;
    columns.push_back(column);
  }
  if (columns.empty()) return false;
  // A join of several relations loses an order that an index gives, which costs a sort.
  const bool wants_few = order != nullptr && order->keys != nullptr && std::isfinite(order->rows);
  const double inner_rows = expected_rows(*join.node, join.conditions);
  if (inner_rows * (wants_few ? 100 : 2) > outer_rows) return false;

  auto distinct = std::make_unique<Query>();
  distinct->distinct = Query::DistinctKind::all;
  for (const SlotExpr* column : columns) {
    if (!contains(distinct->output_slots(), column->slot())) {
      distinct->targets.push_back(column_target(*column));
    }
  }
  Conditions matching =
      take_if(join.conditions, [&](Expr& condition) { return reads_any(condition, all); });
  distinct->outer_slots = outer_slots_of(*join.node);
  for (const ExprPtr& condition : join.conditions) {
    for (const Slot slot : slots_read(*condition)) {
      if (!contains(own, slot)) distinct->outer_slots.push_back(slot);
    }
  }
  distinct->where = std::move(join.conditions);
  distinct->from.push_back(std::move(join.node));
  items.push_back(from_node(FromSubquery{std::move(distinct), {}}));
  Relation relation{items.back().get(), {}, 0};
  collect_slots(*relation.node, relation.slots);
  relations.push_back(std::move(relation));
  join.conditions = std::move(matching);
  return true;
}

/// Takes the conditions that are joins out of the list.
std::vector<Planner::SemiJoin> Planner::take_semi_joins(std::vector<FromPtr>& items,
                                                        std::vector<Relation>& relations,
                                                        Conditions& conditions,
                                                        const WantedOrder* order) {
  std::vector<SemiJoin> joins;
  if (std::ranges::none_of(conditions, [](const ExprPtr& part) { return has_subquery(*part); })) {
    return joins;
  }
  const std::vector<Slot> all = slots_of(relations);
  Conditions rest;
  for (ExprPtr& condition : conditions) {
    if (auto join = as_semi_join(*condition, all, items)) {
      joins.push_back(std::move(*join));
    } else {
      rest.push_back(std::move(condition));
    }
  }
  conditions = std::move(rest);
  std::erase_if(joins, [&](SemiJoin& join) {
    if (!join_as_relation(join, items, relations, conditions, order)) return false;
    append(conditions, std::move(join.conditions));
    return true;
  });
  return joins;
}

/// The only relation joined with one of them by merging, if that is cheapest.
PlanPtr Planner::merge_semi_join(Relation& relation, std::vector<SemiJoin>& joins,
                                 Conditions& conditions) {
  for (auto join = joins.begin(); join != joins.end(); ++join) {
    if (any_among(outer_slots_of(*join->node), relation.slots)) continue;
    Relation inner{join->node.get(), {}, 0};
    collect_slots(*join->node, inner.slots);
    PlanPtr plan = merge_join(join->kind, relation, inner, join->conditions, conditions,
                              with(relation.slots, inner.slots));
    if (!plan) continue;
    joins.erase(join);
    return plan;
  }
  return nullptr;
}

/// Takes out the conditions with subqueries that run for each inner row, if fewer inner rows will
/// have a matching outer one: they are then evaluated on the joined pairs.
Planner::Conditions Planner::take_costly(Conditions& local, std::span<const Slot> inner,
                                         double inner_rows, double candidates) {
  if (candidates >= inner_rows) return {};
  return take_if(local, [&](Expr& condition) {
    bool is_costly = false;
    walk(condition, [&](Expr& part) {
      const auto* subquery = dynamic_cast<const SubqueryExpr*>(&part);
      is_costly |= subquery != nullptr && any_among(subquery->outer_slots, inner);
    });
    return is_costly;
  });
}

/// Drops the select list and the sort order of EXISTS, which are not read. A volatile function
/// there is not called then: PostgreSQL does not call it, either.
void Planner::drop_unread_targets() {
  for (PendingSubquery& pending : binder_.pending()) {
    if (pending.life.expired() || !pending.query) continue;
    Query& query = *pending.query;
    const bool matters = query.body != Query::Body::select || query.grouped ||
                         !query.windows.empty() || !query.sets.empty() || query.limit ||
                         query.offset || query.distinct == Query::DistinctKind::on ||
                         !query.locks.empty();
    if (pending.expr->kind() != SubqueryExpr::Kind::exists || matters) continue;
    for (const Slot slot : query.read_by_targets) binder_.mark_unused(slot);
    query.targets.clear();
    query.order.clear();
    query.distinct = Query::DistinctKind::none;
  }
}

/// Adds the semi-joins whose slots are available.
PlanPtr Planner::add_semi_joins(PlanPtr plan, std::vector<SemiJoin>& joins,
                                std::span<const Slot> available, WantedOrder* order) {
  std::erase_if(joins, [&](SemiJoin& join) {
    const bool is_ready =
        std::ranges::all_of(join.reads, [&](Slot slot) { return contains(available, slot); });
    if (!is_ready) return false;
    Relation relation{join.node.get(), {}, 0};
    collect_slots(*join.node, relation.slots);
    if (any_among(outer_slots_of(*join.node), available)) relation.needs = 1;
    plan = add_relation(std::move(plan), relation, std::move(join.conditions), join.kind);
    // A hash join that spills changes the order of its rows.
    if (order != nullptr && dynamic_cast<const HashJoin*>(plan.get()) != nullptr) {
      order->satisfied = false;
    }
    return true;
  });
  return plan;
}

}  // namespace swizzle::sql
