#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/grouping_sets.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool finds_column(const Scope& scope, std::string_view name) {
  return std::ranges::any_of(scope.items, [&](const ScopeItem& item) {
    for (std::size_t i = 0; i < item.columns.size(); ++i) {
      if (item.visible[i] && item.columns[i].name == name) return true;
    }
    return false;
  });
}

/// Marks set-returning functions that an expression reads, and those in their arguments, to run
/// before grouping.
void mark_grouped_sets(Query& query, Expr& expr) {
  check_stack();
  walk(expr, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot == nullptr) return;
    for (SetItem& item : query.sets) {
      if (item.slot != slot->slot() || std::exchange(item.below_grouping, true)) continue;
      for (const ExprPtr& argument : item.arguments) mark_grouped_sets(query, *argument);
    }
  });
}

/// A key that names a select list item is computed before aggregates and window functions are.
void refuse_computed_later(const Query& query, Expr& key) {
  check_stack();
  walk(key, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot == nullptr) return;
    for (const AggregateCall& call : query.aggregates) {
      if (call.slot != slot->slot()) continue;
      throw SqlError{sqlstate::grouping_error, "aggregate functions are not allowed in GROUP BY"}
          .at_position(call.location + 1);
    }
    for (const WindowDefinition& window : query.windows) {
      if (std::ranges::find(window.calls, slot->slot(), &WindowCall::slot) == window.calls.end())
        continue;
      throw SqlError{sqlstate::windowing_error, "window functions are not allowed in GROUP BY"}
          .at_position(slot->location() + 1);
    }
  });
}

}  // namespace

void QueryBinder::bind_group_by(const ast::SelectStmt& select, Scope& scope, Query& query) {
  const ast::NodeList clause = select.group_clause;
  if (!clause.empty()) query.grouped = true;
  const ClauseScope in_clause{scope, Clause::group_by};
  const auto place_of_slot = [&](Slot slot) {
    const auto key = std::ranges::find(query.group_keys, slot, &GroupKey::slot);
    return static_cast<std::uint32_t>(key - query.group_keys.begin());
  };
  const auto place_of = [&](const Expr& expr) {
    const auto key = std::ranges::find_if(query.group_keys, [&](const GroupKey& known) {
      return same_expression(*known.expr, expr);
    });
    return static_cast<std::uint32_t>(key - query.group_keys.begin());
  };
  const auto add_key = [&](ExprPtr expr) {
    if (expr->type() == TypeId::unknown) {
      expr = coerce(std::move(expr), TypeId::text, kNoTypmod, Implicitness::implicit);
    }
    require_equality(expr->type(), expr->location());
    require_collation_of_key(*expr, nullptr);
    order_as_database(*expr);
    const std::uint32_t place = place_of(*expr);
    if (place < query.group_keys.size()) return place;
    // A set without the key makes its slot NULL, which another query's column must not become.
    const auto* column = dynamic_cast<const SlotExpr*>(expr.get());
    const bool is_own = column != nullptr && std::ranges::find(query.outer_slots, column->slot()) ==
                                                 query.outer_slots.end();
    const Slot slot = is_own ? column->slot() : new_slot();
    mark_used(slot);
    query.group_keys.push_back({std::move(expr), slot});
    return place;
  };
  // Two select list items that GROUPING SETS, CUBE or ROLLUP name are two keys even if they are
  // the same expression.
  const bool is_of_sets = std::ranges::any_of(
      clause, [](const ast::Node* node) { return ast::is<ast::GroupingSet>(node); });
  std::map<std::uint32_t, const OutputTarget*> target_of_key;
  const auto is_key_of_another = [&](std::uint32_t place, const OutputTarget& target) {
    const auto known = target_of_key.find(place);
    return is_of_sets && known != target_of_key.end() && known->second != &target;
  };
  const auto add_target = [&](OutputTarget& target) {
    refuse_computed_later(query, *target.expr);
    if (dynamic_cast<const SlotExpr*>(target.expr.get()) != nullptr) {
      const auto& column = dynamic_cast<const SlotExpr&>(*target.expr);
      const std::uint32_t known = place_of_slot(column.slot());
      const bool is_new_key = known == query.group_keys.size();
      if (!is_new_key && !is_key_of_another(known, target)) return known;
      auto key = std::make_unique<SlotExpr>(column.type(), column.typmod(), column.slot(),
                                            column.origin());
      if (is_new_key) {
        const std::uint32_t place = add_key(std::move(key));
        target_of_key.emplace(place, &target);
        return place;
      }
    }
    // The target itself moves below the grouping; above it there is its slot.
    const Slot slot = new_slot();
    mark_used(slot);
    auto above = std::make_unique<SlotExpr>(target.expr->type(), target.expr->typmod(), slot,
                                            SlotExpr::Origin{});
    if (target.expr->type() == TypeId::unknown) {
      target.expr = coerce(std::move(target.expr), TypeId::text, kNoTypmod, Implicitness::implicit);
      above->set_type(TypeId::text);
    }
    require_equality(target.expr->type(), target.expr->location());
    require_collation_of_key(*target.expr, nullptr);
    order_as_database(*target.expr);
    const std::uint32_t known = place_of(*target.expr);
    if (known < query.group_keys.size() && !is_key_of_another(known, target)) return known;
    const auto place = static_cast<std::uint32_t>(query.group_keys.size());
    query.group_keys.push_back({std::move(target.expr), slot});
    target_of_key.emplace(place, &target);
    target.expr = std::move(above);
    return place;
  };
  const PlaceOfKey bind_key = [&](const ast::Node* node) {
    if (const auto* number = ast::try_as<ast::A_Const>(node)) {
      if (number->ival == nullptr) {
        throw SqlError{sqlstate::syntax_error, "non-integer constant in GROUP BY"}.at_position(
            number->location + 1);
      }
      const std::int32_t position = number->ival->ival;
      if (position < 1 || static_cast<std::size_t>(position) > query.targets.size()) {
        throw sql_error(sqlstate::invalid_column_reference,
                        "GROUP BY position {} is not in select list", position)
            .at_position(number->location + 1);
      }
      return add_target(query.targets[static_cast<std::size_t>(position) - 1]);
    }
    if (const auto* column = ast::try_as<ast::ColumnRef>(node);
        column != nullptr && column->fields.size() == 1 &&
        ast::is<ast::String>(column->fields[0]) &&
        !finds_column(scope, ast::string_of(column->fields[0]))) {
      const auto target =
          std::ranges::find(query.targets, ast::string_of(column->fields[0]), &OutputTarget::name);
      if (target != query.targets.end()) return add_target(*target);
    }
    return add_key(bind_expression(node, scope));
  };
  bool has_sets = false;
  std::vector<GroupingItem> items;
  for (const ast::Node* node : clause) {
    const auto* set = ast::try_as<ast::GroupingSet>(node);
    has_sets |= set != nullptr;
    // An empty set adds nothing to the others that it is multiplied with.
    if (set != nullptr && set->kind == ast::GroupingSetKind::empty) continue;
    GroupingItem item = grouping_item(node, bind_key);
    if (item.kind != GroupingItem::Kind::keys || has_sets) {
      items.push_back(std::move(item));
      continue;
    }
    for (const std::uint32_t key : item.keys) items.push_back({.keys = {key}, .items = {}});
  }
  for (const GroupKey& key : query.group_keys) mark_grouped_sets(query, *key.expr);
  if (has_sets) bind_grouping_sets(std::move(items), select.group_distinct, query);
}

namespace {

/// Checks expressions above the grouping and resolves their columns.
class GroupingCheck {
 public:
  GroupingCheck(QueryBinder& binder, const Scope& scope, Query& query)
      : binder_(binder), scope_(scope), query_(query) {}

  void resolve(ExprPtr& expr) {
    check_stack();
    if (!expr) return;
    for (const GroupKey& key : query_.group_keys) {
      if (same_expression(*key.expr, *expr)) {
        const auto* column = dynamic_cast<const SlotExpr*>(expr.get());
        if (column == nullptr || column->slot() != key.slot) {
          expr = std::make_unique<SlotExpr>(expr->type(), expr->typmod(), key.slot,
                                            SlotExpr::Origin{});
        }
        return;
      }
    }
    if (const auto* column = dynamic_cast<const SlotExpr*>(expr.get())) {
      if (is_ungrouped_set(column->slot())) return call_again(expr, column->slot());
      if (ExprPtr merged = merged_from(column->slot())) {
        expr = std::move(merged);
        return resolve(expr);
      }
      check_column(column->slot(), column->origin(), column->location(), false);
    }
    if (const auto* computed = dynamic_cast<const VirtualColumnExpr*>(expr.get())) {
      const SlotExpr& column = computed->column();
      check_column(column.slot(), column.origin(), computed->location(), false);
    }
    if (const auto* subquery = dynamic_cast<const SubqueryExpr*>(expr.get())) {
      for (const Slot slot : subquery->outer_slots) {
        check_column(slot, origin_of(slot), binder_.named_outside(slot, subquery->location()),
                     true);
      }
    }
    expr->for_each_operand([this](ExprPtr& operand) { resolve(operand); });
  }

 private:
  /// Returns a copy of what a column of USING is computed from, whose columns are checked in its
  /// place; null for any other slot, and for a key.
  [[nodiscard]] ExprPtr merged_from(Slot slot) const {
    if (is_key(slot)) return nullptr;
    for (const FromPtr& from : query_.from) {
      if (const Expr* value = merged_value(*from, slot)) return copy_expression(*value);
    }
    return nullptr;
  }
  static const Expr* merged_value(const FromNode& from, Slot slot) {
    check_stack();
    const auto* join = std::get_if<FromJoin>(&from.node);
    if (join == nullptr) return nullptr;
    const auto found = std::ranges::find(join->merged, slot, &ComputedSlot::slot);
    if (found != join->merged.end()) return found->expr.get();
    const Expr* left = merged_value(*join->left, slot);
    return left != nullptr ? left : merged_value(*join->right, slot);
  }
  [[nodiscard]] SetItem& set_of(Slot slot) const {
    return *std::ranges::find(query_.sets, slot, &SetItem::slot);
  }
  /// True for a set-returning call that GROUP BY reads, but not as a key itself.
  [[nodiscard]] bool is_ungrouped_set(Slot slot) const {
    const auto is_it = [&](const SetItem& item) {
      return item.slot == slot && item.below_grouping;
    };
    return std::ranges::any_of(query_.sets, is_it) && !is_key(slot);
  }
  /// Above the grouping it is called once more, for each group.
  void call_again(ExprPtr& expr, Slot slot) {
    const auto [known, is_new] = called_again_.try_emplace(slot, Slot{0});
    if (is_new) {
      SetItem again{binder_.new_slot(),
                    set_of(slot).function,
                    {},
                    set_of(slot).routine,
                    set_of(slot).location};
      for (const ExprPtr& argument : set_of(slot).arguments) {
        again.arguments.push_back(copy_expression(*argument));
        if (again.arguments.back() == nullptr) {
          throw SqlError{sqlstate::feature_not_supported,
                         "this call of a set-returning function beside GROUP BY is not supported"}
              .at_position(again.location + 1);
        }
        again.arguments.back()->set_location(argument->location());
      }
      known->second = again.slot;
      query_.sets.push_back(std::move(again));
    }
    expr =
        std::make_unique<SlotExpr>(expr->type(), expr->typmod(), known->second, SlotExpr::Origin{});
  }
  [[nodiscard]] bool is_from_slot(Slot slot) const {
    return std::ranges::any_of(scope_.from_slots, [slot](const auto& range) {
      return slot >= range.first && slot < range.second;
    });
  }
  [[nodiscard]] bool is_key(Slot slot) const {
    return std::ranges::any_of(query_.group_keys,
                               [slot](const GroupKey& key) { return key.slot == slot; });
  }
  /// A key of every set.
  [[nodiscard]] bool is_common_key(Slot slot) const {
    const auto key = std::ranges::find(query_.group_keys, slot, &GroupKey::slot);
    if (key == query_.group_keys.end()) return false;
    const auto place = static_cast<std::uint32_t>(key - query_.group_keys.begin());
    return std::ranges::all_of(query_.grouping_sets.sets, [place](const auto& set) {
      return std::ranges::find(set, place) != set.end();
    });
  }
  [[nodiscard]] SlotExpr::Origin origin_of(Slot slot) const {
    for (const ScopeItem& item : scope_.items) {
      for (const ScopeColumn& column : item.columns) {
        if (column.slot == slot) return column.origin;
      }
    }
    return {};
  }
  /// A column of a table whose whole primary key is grouped has one value per group.
  [[nodiscard]] const TablePtr* depends_on_keys(Slot slot) const {
    for (const ScopeItem& item : scope_.items) {
      if (!item.table || item.table->has_row_ids()) continue;
      const bool mine = std::ranges::any_of(
          item.columns, [slot](const ScopeColumn& column) { return column.slot == slot; });
      if (!mine) continue;
      const bool has_all =
          std::ranges::all_of(item.table->key_positions, [&](std::size_t position) {
            return std::ranges::any_of(item.columns, [&](const ScopeColumn& column) {
              return column.origin.column == static_cast<std::int16_t>(position + 1) &&
                     is_common_key(column.slot);
            });
          });
      return has_all ? &item.table : nullptr;
    }
    return nullptr;
  }
  void check_column(Slot slot, const SlotExpr::Origin& origin, std::int32_t location,
                    bool in_subquery) {
    if (!is_from_slot(slot) || is_key(slot)) return;
    if (std::ranges::find(query_.carried, slot) != query_.carried.end()) return;
    if (const TablePtr* table = depends_on_keys(slot)) {
      binder_.note_needed_key(**table);
      query_.carried.push_back(slot);
      binder_.mark_used(slot);
      return;
    }
    const std::string name =
        origin.qualifier.empty() ? origin.name : origin.qualifier + "." + origin.name;
    if (in_subquery) {
      throw sql_error(sqlstate::grouping_error,
                      "subquery uses ungrouped column \"{}\" from outer query", name)
          .at_position(location + 1);
    }
    throw sql_error(sqlstate::grouping_error,
                    "column \"{}\" must appear in the GROUP BY clause or be used in an aggregate "
                    "function",
                    name)
        .at_position(location + 1);
  }

  QueryBinder& binder_;
  const Scope& scope_;
  Query& query_;
  std::map<Slot, Slot> called_again_;
};

}  // namespace

void QueryBinder::check_grouping(Scope& scope, Query& query) {
  for (const GroupingCall& call : query.grouping_calls) settle_grouping_call(query, call);
  GroupingCheck check{*this, scope, query};
  for (OutputTarget& target : query.targets) {
    const Slot before = target.slot;
    check.resolve(target.expr);
    // A target that turned out to be a group key keeps the slot that ORDER BY may refer to; it is
    // computed into it from the key's.
    target.slot = before;
  }
  for (ExprPtr& condition : query.having) check.resolve(condition);
  for (SortKey& key : query.order) {
    const auto* slot = dynamic_cast<const SlotExpr*>(key.expr.get());
    const bool is_target =
        slot != nullptr &&
        std::ranges::any_of(query.targets, [&](const auto& t) { return t.slot == slot->slot(); });
    if (!is_target) check.resolve(key.expr);
  }
  for (ExprPtr& expr : query.distinct_on) {
    const auto* slot = dynamic_cast<const SlotExpr*>(expr.get());
    const bool is_target =
        slot != nullptr &&
        std::ranges::any_of(query.targets, [&](const auto& t) { return t.slot == slot->slot(); });
    if (!is_target) check.resolve(expr);
  }
  for (WindowDefinition& window : query.windows) {
    for (SortKey& key : window.partition) check.resolve(key.expr);
    for (SortKey& key : window.order) check.resolve(key.expr);
    if (auto& range = window.frame.range) {
      for (ExprPtr* part : {&range->key, &range->start, &range->end}) check.resolve(*part);
    }
    for (WindowCall& call : window.calls) {
      for (ExprPtr& argument : call.arguments) check.resolve(argument);
      for (ExprPtr& argument : call.aggregate.arguments) check.resolve(argument);
      for (SortKey& key : call.aggregate.order) check.resolve(key.expr);
      check.resolve(call.aggregate.filter);
    }
  }
  // Settling may add some.
  for (std::size_t i = 0; i < query.sets.size(); ++i) {
    if (query.sets[i].below_grouping) continue;
    for (std::size_t j = 0; j < query.sets[i].arguments.size(); ++j) {
      ExprPtr argument = std::move(query.sets[i].arguments[j]);
      check.resolve(argument);
      query.sets[i].arguments[j] = std::move(argument);
    }
  }
}

}  // namespace swizzle::sql
