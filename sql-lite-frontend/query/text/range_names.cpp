#include "sql-lite-frontend/query/text/range_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Slot of a column that the query does not read.
constexpr Slot kUnread = static_cast<Slot>(-1);

/// Returns the name of the first column that the expression reads.
std::string first_column(Expr& expr) {
  std::string name;
  walk(expr, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot != nullptr && name.empty()) name = slot->origin().name;
  });
  return name;
}

void collect_slots(Expr& expr, std::vector<Slot>& slots) {
  walk(expr, [&](Expr& part) {
    if (const auto* slot = dynamic_cast<const SlotExpr*>(&part); slot != nullptr)
      slots.push_back(slot->slot());
  });
}

const ast::Alias* alias_of(const ast::Node* node) {
  if (const auto* range = ast::try_as<ast::RangeVar>(node)) return range->alias;
  if (const auto* subselect = ast::try_as<ast::RangeSubselect>(node)) return subselect->alias;
  if (const auto* function = ast::try_as<ast::RangeFunction>(node)) return function->alias;
  if (const auto* table = ast::try_as<ast::JsonTable>(node)) return table->alias;
  return nullptr;
}

/// Renames a column whose name an earlier column of the relation has. Returns true if it changed.
bool make_unique(std::vector<RangeName::Column>& columns, std::size_t place) {
  const std::string wanted = columns[place].name;
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(place),
                       [&](const RangeName::Column& other) { return other.name == name; });
  };
  int number = 0;
  while (is_taken(columns[place].name)) {
    columns[place].name = fmt::format("{}_{}", wanted, ++number);
  }
  return number > 0;
}

}  // namespace

void throw_unprintable(std::string_view what) {
  throw sql_error(sqlstate::feature_not_supported, "{} cannot be shown", what);
}

std::vector<std::string> RangeNames::using_names(const FromJoin& join,
                                                 const ast::JoinExpr& syntax) {
  std::vector<std::string> names;
  if (syntax.is_natural) {
    for (const ExprPtr& condition : join.conditions) names.push_back(first_column(*condition));
  }
  for (const ast::Node* name : syntax.using_clause) names.emplace_back(ast::string_of(name));
  return names;
}

bool RangeNames::is_taken(const std::string& name) const {
  if (std::ranges::find(taken_, name) != taken_.end()) return true;
  return std::ranges::any_of(around_, [&](const RangeNames* other) {
    return std::ranges::find(other->taken_, name) != other->taken_.end();
  });
}

void RangeNames::give_name(RangeName& range, std::string wanted) {
  range.name = wanted;
  while (is_taken(range.name)) range.name = fmt::format("{}_{}", wanted, ++repeats_[wanted]);
  taken_.push_back(range.name);
}

const RangeName* RangeNames::find(const FromNode& node) const {
  const auto found = std::ranges::find(names_, &node, &RangeName::node);
  return found == names_.end() ? nullptr : &*found;
}

const RangeName* RangeNames::relation_of(const SlotExpr& slot) const {
  for (const RangeName& range : names_) {
    if (range.is_join) continue;
    if (std::ranges::find(range.columns, slot.slot(), &RangeName::Column::slot) !=
        range.columns.end()) {
      return &range;
    }
  }
  for (const RangeName& range : names_) {
    if (!range.is_join && range.name == slot.origin().qualifier) return &range;
  }
  return nullptr;
}

std::optional<RangeNames::Found> RangeNames::find(const SlotExpr& slot) const {
  const auto in = [&](const RangeName& range) -> const RangeName::Column* {
    const RangeName::Column* found = nullptr;
    for (const RangeName::Column& column : range.columns) {
      if (column.slot != slot.slot()) continue;
      // Two columns of a subquery may have one value: prefer the one with the bound name.
      if (found == nullptr || column.bound == slot.origin().name) found = &column;
      if (found->bound == slot.origin().name) break;
    }
    return found;
  };
  // Joins first: a named join hides the columns of its sides.
  for (const bool wants_join : {true, false}) {
    for (auto range = names_.rbegin(); range != names_.rend(); ++range) {
      if (range->is_join != wants_join) continue;
      if (const auto* column = in(*range)) return Found{&*range, &column->name};
    }
  }
  if (const auto merged = merged_.find(slot.slot()); merged != merged_.end())
    return Found{nullptr, &merged->second};
  return std::nullopt;
}

void RangeNames::add_relation(const Table& table, const BindingNotes::OfItem& note,
                              RangeName& range) {
  const auto* const sample = ast::try_as<ast::RangeTableSample>(note.node);
  const ast::Node* const syntax = sample != nullptr ? sample->relation.raw() : note.node;
  const ast::Alias* const alias = ast::as<ast::RangeVar>(syntax).alias;
  give_name(range, alias != nullptr ? std::string{alias->aliasname} : table.relation.name);
  const std::size_t given = alias != nullptr ? alias->colnames.size() : 0;
  std::vector<bool> is_known(table.relation.columns.size());
  const auto add_column = [&](std::string name, std::string bound, Slot slot,
                              const std::string& real) {
    range.columns.push_back({std::move(name), std::move(bound), slot});
    make_unique(range.columns, range.columns.size() - 1);
    range.shows_columns |= range.columns.back().name != real;
  };
  for (std::size_t i = 0; i < note.item.columns.size(); ++i) {
    const ScopeColumn& column = note.item.columns[i];
    const auto number = static_cast<std::size_t>(column.origin.column);
    if (number == 0 || number > is_known.size()) throw_unprintable("a column of this relation");
    is_known[number - 1] = true;
    const std::string& real = table.relation.columns[number - 1].name;
    add_column(i < given ? column.name : real, column.name, column.slot, real);
  }
  for (std::size_t i = 0; i < is_known.size(); ++i) {
    const Column& later = table.relation.columns[i];
    if (!is_known[i] && !later.dropped) add_column(later.name, {}, kUnread, later.name);
  }
  range.shows_name = alias != nullptr || range.shows_columns || range.name != table.relation.name;
  range.is_lockable = true;
}

void RangeNames::add(const FromNode& node) {
  check_stack();
  const auto known = notes_.from.find(&node);
  if (known == notes_.from.end()) throw_unprintable("this FROM clause");
  const BindingNotes::OfItem& note = known->second;
  if (const auto* join = std::get_if<FromJoin>(&node.node)) return add_join(node, *join, note);
  RangeName range;
  range.node = &node;
  range.syntax = note.node;
  const auto* shown = std::get_if<FromSubquery>(&node.node);
  const FromNode& rows = shown != nullptr && shown->query->sample ? *shown->query->from[0] : node;
  if (const auto* table = std::get_if<FromTable>(&rows.node)) {
    add_relation(*table->table, note, range);
  } else if (const auto* computed = std::get_if<FromComputed>(&rows.node)) {
    add_relation(*computed->table, note, range);
  } else {
    const ast::Alias* const alias = alias_of(note.node);
    const auto* cte = std::get_if<FromCte>(&node.node);
    const bool is_function = std::holds_alternative<FromFunctions>(node.node);
    const bool is_json_table = ast::is<ast::JsonTable>(note.node);
    const bool is_subquery = ast::is<ast::RangeSubselect>(note.node) || is_json_table;
    if (cte == nullptr && !is_function && !is_subquery) throw_unprintable("this FROM item");
    give_name(range, note.item.alias);
    for (const ScopeColumn& column : note.item.columns) {
      range.columns.push_back({column.name, column.name, column.slot});
      range.shows_columns |= make_unique(range.columns, range.columns.size() - 1);
    }
    range.shows_columns |= is_function || (alias != nullptr && !alias->colnames.empty());
    range.shows_name =
        (cte == nullptr && !is_json_table) || alias != nullptr || range.name != note.item.alias;
    range.is_lockable = is_subquery && !is_json_table;
  }
  names_.push_back(std::move(range));
}

void RangeNames::add_join(const FromNode& node, const FromJoin& join,
                          const BindingNotes::OfItem& note) {
  const auto& syntax = ast::as<ast::JoinExpr>(note.node);
  const bool is_turned = syntax.jointype == ast::JoinType::right;
  add(is_turned ? *join.right : *join.left);
  add(is_turned ? *join.left : *join.right);
  const std::vector<std::string> names = using_names(join, syntax);
  // A merged column is printed by the name in USING.
  for (std::size_t i = 0; i < names.size() && i < join.conditions.size(); ++i) {
    std::vector<Slot> slots;
    collect_slots(*join.conditions[i], slots);
    for (RangeName& range : names_) {
      for (RangeName::Column& column : range.columns) {
        if (std::ranges::find(slots, column.slot) == slots.end() || column.name == names[i])
          continue;
        column.name = names[i];
        range.shows_columns = range.shows_name = true;
      }
    }
  }
  for (const ComputedSlot& merged : join.merged) merged_[merged.slot] = first_column(*merged.expr);
  if (syntax.alias == nullptr) return;
  RangeName range;
  range.node = &node;
  range.syntax = note.node;
  range.is_join = true;
  give_name(range, std::string{syntax.alias->aliasname});
  for (const ScopeColumn& column : note.item.columns) {
    range.columns.push_back({column.name, column.name, column.slot});
    range.shows_columns |= make_unique(range.columns, range.columns.size() - 1);
  }
  range.shows_columns |= !syntax.alias->colnames.empty();
  range.shows_name = true;
  names_.push_back(std::move(range));
}

void RangeNames::add_table(const Table& table, Slot first_slot) {
  RangeName range;
  give_name(range, table.relation.name);
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const std::string& name = table.relation.columns[i].name;
    range.columns.push_back({name, name, first_slot + static_cast<Slot>(i)});
  }
  names_.push_back(std::move(range));
}

void RangeNames::add_values(const Query& query) {
  RangeName range;
  give_name(range, "*VALUES*");
  for (std::size_t i = 0; i < query.body_slots.size(); ++i) {
    std::string name = fmt::format("column{}", i + 1);
    range.columns.push_back({name, name, query.body_slots[i]});
  }
  range.shows_name = true;
  names_.push_back(std::move(range));
}

}  // namespace swizzle::sql
