#include "sql-lite-frontend/query/bind/grouping_sets.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// GROUPING SETS, ROLLUP, CUBE and GROUPING().
namespace swizzle::sql {
namespace {

/// Adds the keys of an expression, or of a list of expressions in parentheses.
void add_keys(const ast::Node* node, const PlaceOfKey& place_of, std::vector<std::uint32_t>& keys) {
  check_stack();
  const auto* row = ast::try_as<ast::RowExpr>(node);
  if (row == nullptr || row->row_format != ast::CoercionForm::implicit_cast) {
    keys.push_back(place_of(node));
    return;
  }
  for (const ast::Node* item : row->args) add_keys(item, place_of, keys);
}

using KeySets = std::vector<std::vector<std::uint32_t>>;

void add_set(KeySets& sets, std::vector<std::uint32_t> keys) {
  constexpr std::size_t kMostSets = 4096;
  if (sets.size() == kMostSets) {
    throw SqlError{sqlstate::statement_too_complex,
                   "too many grouping sets present (maximum 4096)"};
  }
  sets.push_back(std::move(keys));
}

/// Adds the sets of an item.
void expand(const GroupingItem& item, KeySets& sets) {
  check_stack();
  const std::size_t count = item.items.size();
  const auto add_those = [&](const std::function<bool(std::size_t)>& is_member) {
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_member(i)) continue;
      keys.insert(keys.end(), item.items[i].keys.begin(), item.items[i].keys.end());
    }
    add_set(sets, std::move(keys));
  };
  switch (item.kind) {
    case GroupingItem::Kind::keys:
      return add_set(sets, item.keys);
    case GroupingItem::Kind::rollup:
      for (std::size_t length = count + 1; length-- > 0;) {
        add_those([length](std::size_t i) { return i < length; });
      }
      return;
    case GroupingItem::Kind::cube:
      for (std::size_t members = std::size_t{1} << count; members-- > 0;) {
        add_those([members](std::size_t i) { return (members >> i & 1U) != 0; });
      }
      return;
    case GroupingItem::Kind::sets:
      for (const GroupingItem& inner : item.items) expand(inner, sets);
      return;
  }
}

/// Returns the cross product of all items' sets; each key is in a set once.
KeySets expanded_sets(std::span<const GroupingItem> items) {
  KeySets all{{}};
  for (const GroupingItem& item : items) {
    KeySets factors;
    expand(item, factors);
    KeySets products;
    for (const auto& left : all) {
      for (const auto& right : factors) {
        std::vector<std::uint32_t> keys = left;
        for (const std::uint32_t key : right) {
          if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
        }
        add_set(products, std::move(keys));
      }
    }
    all = std::move(products);
  }
  return all;
}

/// Keeps only the first of several sets with the same keys.
void remove_repeated_sets(KeySets& sets) {
  std::set<std::vector<std::uint32_t>> seen;
  std::erase_if(sets, [&](std::vector<std::uint32_t> keys) {
    std::ranges::sort(keys);
    return !seen.insert(std::move(keys)).second;
  });
}

std::int32_t beginning_of(Expr& expr) {
  std::int32_t first = expr.location();
  walk(expr, [&](Expr& part) {
    if (part.location() >= 0 && part.location() < first) first = part.location();
  });
  return first;
}

}  // namespace

GroupingItem grouping_item(const ast::Node* node, const PlaceOfKey& place_of) {
  check_stack();
  using enum ast::GroupingSetKind;
  GroupingItem item;
  const auto* set = ast::try_as<ast::GroupingSet>(node);
  if (set == nullptr) {
    add_keys(node, place_of, item.keys);
    return item;
  }
  if (set->kind == empty) return item;
  item.kind = set->kind == rollup ? GroupingItem::Kind::rollup
              : set->kind == cube ? GroupingItem::Kind::cube
                                  : GroupingItem::Kind::sets;
  for (const ast::Node* content : set->content) {
    GroupingItem inner = grouping_item(content, place_of);
    if (inner.kind == GroupingItem::Kind::sets) {
      std::ranges::move(inner.items, std::back_inserter(item.items));
    } else {
      item.items.push_back(std::move(inner));
    }
  }
  constexpr std::size_t kMostOfCube = 12;
  if (item.kind == GroupingItem::Kind::cube && item.items.size() > kMostOfCube) {
    throw SqlError{sqlstate::too_many_columns, "CUBE is limited to 12 elements"}.at_position(
        set->location + 1);
  }
  return item;
}

void settle_grouping_call(Query& query, const GroupingCall& call) {
  GroupingSets& sets = query.grouping_sets;
  std::vector<std::uint32_t> keys;
  for (const ExprPtr& argument : call.arguments) {
    const auto key = std::ranges::find_if(query.group_keys, [&](const GroupKey& one) {
      return same_expression(*one.expr, *argument);
    });
    if (key == query.group_keys.end()) {
      throw SqlError{sqlstate::grouping_error,
                     "arguments to GROUPING must be grouping expressions of the associated query "
                     "level"}
          .at_position(beginning_of(*argument) + 1);
    }
    keys.push_back(static_cast<std::uint32_t>(key - query.group_keys.begin()));
  }
  GroupingSets::Call settled{call.slot, {}};
  const auto value_in = [&](const std::vector<std::uint32_t>& set) {
    std::uint32_t value = 0;
    for (const std::uint32_t key : keys) {
      value = value << 1U | (std::ranges::find(set, key) == set.end() ? 1U : 0U);
    }
    return static_cast<std::int32_t>(value);
  };
  for (const auto& set : sets.sets) settled.value_of_set.push_back(value_in(set));
  if (sets.sets.empty()) settled.value_of_set.push_back(0);
  sets.calls.push_back(std::move(settled));
}

/// Binds GROUPING(…): its value belongs to the group's set, as an aggregate's value belongs to the
/// group's rows.
ExprPtr ExpressionBinder::bind_grouping(const ast::GroupingFunc& node, Scope& scope) {
  constexpr std::size_t kMostArguments = 31;
  if (node.args.size() > kMostArguments) {
    throw SqlError{sqlstate::too_many_arguments, "GROUPING must have fewer than 32 arguments"}
        .at_position(node.location + 1);
  }
  const OuterNotes notes{scope};
  AggregateCall call;
  for (const ast::Node* argument : node.args) {
    call.arguments.push_back(bind_expression(argument, scope));
  }
  Scope& home = home_of_aggregate(scope, call);
  if (&home != &scope) notes.take_back(scope, home);
  switch (home.clause) {
    case Clause::select_list:
    case Clause::having:
    case Clause::order_by:
    case Clause::distinct_on:
    case Clause::window:
      break;
    default:
      throw sql_error(sqlstate::grouping_error, "grouping operations are not allowed in {}",
                      clause_name(home.clause))
          .at_position(node.location + 1);
  }
  if (home.query == nullptr) {
    throw SqlError{sqlstate::grouping_error, "grouping operations are not allowed in this context"}
        .at_position(node.location + 1);
  }
  for (const ExprPtr& argument : call.arguments) refuse_nested(*argument, *home.query);
  home.query->grouped = true;
  const auto is_same = [&](const GroupingCall& other) {
    return std::ranges::equal(
        other.arguments, call.arguments,
        [](const ExprPtr& left, const ExprPtr& right) { return same_expression(*left, *right); });
  };
  const auto known = std::ranges::find_if(home.query->grouping_calls, is_same);
  ScopeColumn column;
  column.type = TypeId::int4;
  column.slot = known != home.query->grouping_calls.end() ? known->slot : new_slot();
  if (known == home.query->grouping_calls.end()) {
    home.query->grouping_calls.push_back({column.slot, std::move(call.arguments)});
  }
  for (Scope* at = &scope; at != &home; at = at->parent) {
    if (at->outer_slots != nullptr) at->outer_slots->push_back(column.slot);
  }
  ExprPtr expr = slot_expr(column);
  expr->set_location(node.location);
  return expr;
}

void QueryBinder::bind_grouping_sets(std::vector<GroupingItem> items, bool distinct, Query& query) {
  KeySets sets = expanded_sets(items);
  if (distinct) remove_repeated_sets(sets);
  // GROUP BY () means one group of all rows, which `grouped` already says.
  if (items.empty()) items.emplace_back();
  if (sets.size() > 1) {
    query.grouping_sets.sets = std::move(sets);
    query.grouping_sets.number = new_slot();
    mark_used(query.grouping_sets.number);
  }
  if (!query.grouping_sets.sets.empty() || query.group_keys.empty()) {
    query.grouping_items = std::move(items);
  }
}

}  // namespace swizzle::sql
