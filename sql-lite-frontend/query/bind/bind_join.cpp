#include <optional>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/sql_error.h"

/// JOIN: the columns that its sides may see, USING and NATURAL, and the name of the whole.
namespace swizzle::sql {
namespace {

struct JoinColumn {
  ScopeColumn column;
  std::size_t item;
  std::size_t index;
};

/// The visible column of that name among the items [begin, end). Throws when there are several.
std::optional<JoinColumn> find_join_column(const Scope& scope, std::size_t begin, std::size_t end,
                                           std::string_view name, std::string_view side) {
  std::optional<JoinColumn> found;
  for (std::size_t i = begin; i < end; ++i) {
    const ScopeItem& item = scope.items[i];
    for (std::size_t c = 0; c < item.columns.size(); ++c) {
      if (!item.visible[c] || item.columns[c].name != name) continue;
      if (found) {
        throw_error(sqlstate::ambiguous_column,
                    "common column name \"{}\" appears more than once in {} table", name, side);
      }
      found = JoinColumn{item.columns[c], i, c};
    }
  }
  return found;
}

}  // namespace

/// Returns the merged column: of the common type, and one of the two if it has that type.
ScopeColumn QueryBinder::merge_columns(const ScopeColumn& left, const ScopeColumn& right,
                                       FromJoin& join, Scope& scope) {
  std::vector<ExprPtr> sides;
  sides.push_back(slot_expr(left));
  sides.push_back(slot_expr(right));
  TypeId type = TypeId::none;
  sides = unify(std::move(sides), "JOIN/USING", type, -1);
  const bool is_same = left.type == right.type && left.typmod == right.typmod;
  const std::int32_t typmod = is_same ? left.typmod : kNoTypmod;
  const auto has_it = [&](const ScopeColumn& side) {
    return side.type == type && side.typmod == typmod;
  };
  const bool takes_right = join.kind == JoinKind::right ||
                           (join.kind == JoinKind::inner && !has_it(left) && has_it(right));
  ScopeColumn column = takes_right ? right : left;
  column.typmod = typmod;
  if (join.kind != JoinKind::full && column.type == type) return column;
  ExprPtr value;
  if (join.kind == JoinKind::full) {
    value = std::make_unique<CoalesceExpr>(type, std::move(sides));
  } else {
    value = std::move(sides[takes_right ? 1 : 0]);
  }
  column.type = type;
  column.slot = new_slot();
  scope.from_slots.emplace_back(column.slot, column.slot + 1);
  join.merged.push_back({column.slot, std::move(value)});
  return column;
}

void QueryBinder::bind_using(const ast::JoinExpr& node, FromJoin& join, Scope& scope,
                             std::size_t left_begin, std::size_t right_begin,
                             std::span<const std::string> names) {
  ScopeItem merged;
  merged.named = false;
  merged.is_join = true;
  for (const std::string& name : names) {
    const auto left = find_join_column(scope, left_begin, right_begin, name, "left");
    const auto right = find_join_column(scope, right_begin, scope.items.size(), name, "right");
    if (!left || !right) {
      throw_error(sqlstate::undefined_column,
                  "column \"{}\" specified in USING clause does not exist in {} table", name,
                  left ? "right" : "left");
    }
    ScopeColumn column = merge_columns(left->column, right->column, join, scope);
    const auto is_same = [&] {
      return call_operator("=", slot_expr(left->column), slot_expr(right->column), -1);
    };
    join.conditions.push_back(is_same());
    if (locks_rows_) join.recheck.push_back(is_same());
    scope.items[left->item].visible[left->index] = false;
    scope.items[right->item].visible[right->index] = false;
    column.name = name;
    merged.columns.push_back(std::move(column));
  }
  merged.show_all();
  if (node.join_using_alias != nullptr) {
    merged.named = true;
    merged.alias = node.join_using_alias->aliasname;
    require_distinct(scope, merged);
  }
  scope.items.insert(scope.items.begin() + static_cast<std::ptrdiff_t>(left_begin),
                     std::move(merged));
}

FromPtr QueryBinder::bind_join(const ast::JoinExpr& node, Scope& scope) {
  FromJoin join;
  switch (node.jointype) {
    case ast::JoinType::inner:
      join.kind = JoinKind::inner;
      break;
    case ast::JoinType::left:
      join.kind = JoinKind::left;
      break;
    case ast::JoinType::right:
      join.kind = JoinKind::right;
      break;
    case ast::JoinType::full:
      join.kind = JoinKind::full;
      break;
    default:
      unsupported("this kind of join");
  }
  const std::size_t left_begin = scope.items.size();
  const std::size_t distinct_from = scope.distinct_from;
  if (node.alias != nullptr) scope.distinct_from = left_begin;
  const auto bind_side = [&](const ast::Node* side, JoinKind nullable_in) {
    const std::string_view around = recursion_forbidden_;
    if (join.kind == nullable_in || join.kind == JoinKind::full) {
      recursion_forbidden_ = "within an outer join";
    }
    FromPtr bound = bind_from_item(side, scope);
    recursion_forbidden_ = around;
    return bound;
  };
  join.left = bind_side(node.larg, JoinKind::right);
  const std::size_t right_begin = scope.items.size();
  const bool lateral = join.kind == JoinKind::inner || join.kind == JoinKind::left;
  const auto allow_lateral = [&](bool allowed) {
    for (std::size_t i = left_begin; i < right_begin; ++i) {
      scope.items[i].lateral_allowed = allowed;
    }
  };
  allow_lateral(lateral);
  join.right = bind_side(node.rarg, JoinKind::left);
  allow_lateral(true);

  const auto note_absent_sides = [&] {
    const bool left = join.kind == JoinKind::right || join.kind == JoinKind::full;
    const bool right = join.kind == JoinKind::left || join.kind == JoinKind::full;
    for (std::size_t i = left_begin; i < scope.items.size(); ++i) {
      if (i < right_begin ? left : right) note_absence(scope.items[i]);
    }
  };
  std::vector<std::string> names;
  if (node.is_natural) {
    for (std::size_t i = left_begin; i < right_begin; ++i) {
      const ScopeItem& item = scope.items[i];
      for (std::size_t c = 0; c < item.columns.size(); ++c) {
        if (!item.visible[c]) continue;
        const std::string& name = item.columns[c].name;
        if (find_join_column(scope, right_begin, scope.items.size(), name, "right")) {
          names.push_back(name);
        }
      }
    }
  }
  for (const ast::Node* name : node.using_clause) names.emplace_back(ast::string_of(name));
  if (!names.empty()) {
    note_absent_sides();
    bind_using(node, join, scope, left_begin, right_begin, names);
  } else {
    if (node.quals != nullptr) {
      const Unreachable hidden{scope, 0, left_begin};
      const ClauseScope clause{scope, Clause::join_on};
      join.conditions.push_back(bind_condition(node.quals, scope, "JOIN/ON"));
      if (locks_rows_) join.recheck.push_back(bind_condition(node.quals, scope, "JOIN/ON"));
    }
    // Afterwards, because in the condition both sides exist.
    note_absent_sides();
  }
  if (node.alias != nullptr) {
    // The join as a whole has a name: its parts can only be reached through it.
    ScopeItem whole;
    whole.is_join = true;
    whole.alias = node.alias->aliasname;
    for (std::size_t i = left_begin; i < scope.items.size(); ++i) {
      ScopeItem& item = scope.items[i];
      item.named = false;
      for (std::size_t c = 0; c < item.columns.size(); ++c) {
        if (!item.visible[c]) continue;
        whole.columns.push_back(item.columns[c]);
        item.visible[c] = false;
      }
    }
    whole.show_all();
    apply_alias(whole, node.alias);
    scope.distinct_from = distinct_from;
    add_item(scope, std::move(whole));
  }
  if (join.kind == JoinKind::right) {
    std::swap(join.left, join.right);
    join.kind = JoinKind::left;
  }
  return from_node(std::move(join));
}

}  // namespace swizzle::sql
