#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql-lite-frontend/query/bind/find_item.h"
#include "sql-lite-frontend/query/bind/missing_names.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Meanings of names in an expression.
namespace swizzle::sql {

namespace {

/// Meaning of a column's name in one scope.
struct Found {
  const ScopeItem* item = nullptr;
  const ScopeColumn* column = nullptr;
  int matches = 0;
};

Found find_unqualified(const Scope& scope, std::string_view name) {
  Found found;
  for (const ScopeItem& item : scope.items) {
    if (!item.reachable) continue;
    for (std::size_t i = 0; i < item.columns.size(); ++i) {
      if (!item.visible[i] || item.columns[i].name != name) continue;
      found.item = &item;
      found.column = &item.columns[i];
      ++found.matches;
    }
  }
  return found;
}

/// The only table in a FROM clause; null where there are several, or none.
const ScopeItem* only_table(const Scope& scope) {
  const ScopeItem* only = nullptr;
  for (const ScopeItem& item : scope.items) {
    if (!item.named || !item.reachable || !item.table || item.is_version) continue;
    if (only != nullptr) return nullptr;
    only = &item;
  }
  return only;
}

bool is_system_column(std::string_view name) {
  constexpr std::array kNames =
      std::to_array<std::string_view>({"ctid", "xmin", "xmax", "cmin", "cmax"});
  return std::ranges::find(kNames, name) != kNames.end();
}

bool any_table(const Scope& scope) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    if (std::ranges::any_of(at->items, [](const ScopeItem& item) { return item.table != nullptr; }))
      return true;
  }
  return false;
}

[[noreturn]] void refuse_system_column(std::string_view name, std::int32_t location) {
  SqlError error =
      sql_error(sqlstate::feature_not_supported, "system column \"{}\" is not supported", name)
          .at_position(location + 1);
  if (name == "ctid") {
    throw std::move(error).with_detail("Only rows of a table with a primary key have one here.");
  }
  throw error;
}

/// MERGE's conditions may read no column of the system's but tableoid.
void require_readable(const Scope& scope, std::string_view name, std::int32_t location) {
  if (scope.clause != Clause::merge_when || !is_system_column(name)) return;
  throw sql_error(sqlstate::invalid_column_reference,
                  "cannot use system column \"{}\" in MERGE WHEN condition", name)
      .at_position(location + 1);
}

/// True if the clause may read a row's ctid or tableoid; stored expressions may not.
bool numbers_rows(Clause clause) {
  constexpr std::array kStored{
      Clause::check,     Clause::column_default, Clause::index_expression, Clause::index_predicate,
      Clause::generated, Clause::trigger_when,   Clause::partition_key};
  return std::ranges::find(kStored, clause) == kStored.end();
}

/// The columns of a table's primary key in its order; none where it has none, or does not show it.
std::vector<const ScopeColumn*> shown_key(const ScopeItem& item) {
  std::vector<const ScopeColumn*> key;
  if (!item.table || item.is_join) return key;
  // Under a nondeterministic collation equal keys may have different texts, so none of them
  // identifies the row.
  const bool hides = std::ranges::any_of(item.table->key_columns, [](const KeyColumn& column) {
    return is_collated(column.type) && is_nondeterministic(collation_of_type(column.type));
  });
  if (hides) return key;
  for (const std::size_t position : item.table->key_positions) {
    const auto number = static_cast<std::int64_t>(position) + 1;
    const auto found = std::ranges::find_if(item.columns, [&](const ScopeColumn& column) {
      return column.origin.column == number && column.origin.table == item.table->relation.oid;
    });
    if (found == item.columns.end()) return {};
    key.push_back(&*found);
  }
  return key;
}

void note_outer_slots(Scope& from, const Scope& to, Slot slot) {
  for (Scope* scope = &from; scope != &to; scope = scope->parent) {
    if (scope->outer_slots != nullptr) scope->outer_slots->push_back(slot);
  }
}

/// The same of all that a column's value reads: a virtual one's is computed from others.
void note_outer_slots(Scope& from, const Scope& to, Expr& value) {
  if (&from == &to) return;
  std::vector<Slot> slots;
  add_slots_read(value, slots);
  for (const Slot slot : slots) note_outer_slots(from, to, slot);
}

void tell_absence(RowExpr& row, const ScopeItem& item, std::span<const ScopeColumn> fields) {
  row.absence = RowExpr::Absence::all_are_null;
  if (item.table == nullptr) return;
  const auto& columns = item.table->relation.columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto number = static_cast<std::size_t>(fields[i].origin.column);
    if (number == 0 || number > columns.size() || !columns[number - 1].never_null()) continue;
    row.absence = RowExpr::Absence::field_is_null;
    row.telling_field = i;
    return;
  }
}

}  // namespace

const ScopeItem* find_item(const Scope& scope, std::string_view schema, std::string_view alias,
                           std::int32_t location) {
  const ScopeItem* found = nullptr;
  for (const ScopeItem& item : scope.items) {
    const bool is_meant = item.named && item.reachable && item.alias == alias &&
                          (schema.empty() || schema == item.schema);
    if (!is_meant) continue;
    if (found != nullptr) {
      throw sql_error(SqlState{"42P09"}, "table reference \"{}\" is ambiguous", alias)
          .at_position(location + 1);
    }
    found = &item;
  }
  return found;
}

/// True if the name is a relation's row that has had other fields since the view was made.
bool ExpressionBinder::is_row_of_view(std::string_view name, std::int32_t location, Scope& scope) {
  for (Scope* at = &scope; at != nullptr && open_view_ != nullptr; at = at->parent) {
    if (find_unqualified(*at, name).matches > 0) return false;
    if (const ScopeItem* item = find_item(*at, {}, name, location)) return !item->whole_row.empty();
  }
  return false;
}

/// Binds t.f as f(t) if t has no such column and there is such a user-defined function. Null: there
/// is none.
ExprPtr ExpressionBinder::call_of_row(const ast::ColumnRef& node, ExprPtr row, Scope& scope) {
  auto* const call =
      new (arena_.allocate(sizeof(ast::FuncCall), alignof(ast::FuncCall))) ast::FuncCall{};
  call->node_kind = ast::FuncCall::kKind;
  call->funcname = node.fields.last(1);
  call->location = node.location;
  CallArguments given;
  given.types.push_back(row->type());
  given.values.push_back(std::move(row));
  const auto routine = find_routine(*call, given, RoutineKind::function);
  if (!routine || routine->callable->routine->kind != RoutineKind::function) return nullptr;
  return bind_routine(*call, *routine, std::move(given), scope);
}

/// Returns the value, or NULL if OLD or NEW is no row.
ExprPtr ExpressionBinder::unless_absent(ExprPtr value, const ScopeItem& item) {
  const auto& columns = item.table->relation.columns;
  const auto telling = std::ranges::find_if(item.columns, [&](const ScopeColumn& column) {
    const auto number = static_cast<std::size_t>(column.origin.column);
    return number > 0 && number <= columns.size() && columns[number - 1].never_null();
  });
  std::vector<ExprPtr> fields;
  for (const ScopeColumn& column : item.columns) {
    if (telling == item.columns.end() || column.slot == telling->slot) {
      fields.push_back(slot_expr(column));
    }
  }
  return null_without(std::move(fields), std::move(value));
}

ExprPtr ExpressionBinder::table_of_row(const ScopeItem& item, Scope& scope, Scope& at,
                                       std::int32_t location) {
  if (scope.clause != Clause::policy) note_system_column(item);
  if (!item.partition_slot) {
    ExprPtr oid = std::make_unique<ConstantExpr>(TypeId::oid, kNoTypmod,
                                                 Value::from_oid(item.table->relation.oid));
    return item.is_version ? unless_absent(std::move(oid), item) : std::move(oid);
  }
  if (!numbers_rows(scope.clause)) refuse_system_column("tableoid", location);
  mark_used(*item.partition_slot);
  note_outer_slots(scope, at, *item.partition_slot);
  auto expr = std::make_unique<SlotExpr>(TypeId::oid, kNoTypmod, *item.partition_slot,
                                         SlotExpr::Origin{kNoOid, 0, item.alias, "tableoid"});
  expr->set_location(location);
  return expr;
}

ExprPtr ExpressionBinder::bind_column(const ast::ColumnRef& node, Scope& scope) {
  if (ast::is<ast::A_Star>(node.fields.back())) {
    if (node.fields.size() == 1) {
      throw SqlError{sqlstate::syntax_error, "row expansion via \"*\" is not supported here"}
          .at_position(node.location + 1);
    }
  }
  const auto part = [&](std::size_t i) { return ast::string_of(node.fields[i]); };
  const bool whole_row = ast::is<ast::A_Star>(node.fields.back());
  const std::size_t parts = node.fields.size() - (whole_row ? 1 : 0);
  if (parts > 4) {
    std::string name;
    for (std::size_t i = 0; i < parts; ++i) name += (i > 0 ? "." : "") + std::string{part(i)};
    throw sql_error(sqlstate::syntax_error, "improper qualified name (too many dotted names): {}",
                    name)
        .at_position(node.location + 1);
  }
  if (scope.clause == Clause::partition_bound) {
    throw SqlError{sqlstate::invalid_column_reference,
                   "cannot use column reference in partition bound expression"}
        .at_position(node.location + 1);
  }
  if (scope.clause == Clause::column_default) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot use column reference in DEFAULT expression"}
        .at_position(node.location + 1);
  }

  if (ExprPtr variable = variable_instead(node)) return variable;
  const auto use = [&](const ScopeItem& item, const ScopeColumn& column, Scope& at) {
    refuse_variable(node);
    require_lateral(item, node.location);
    if (column.computed)
      unsupported("reading a computed column of the written view", node.location);
    ExprPtr expr = slot_expr(column);
    expr->set_location(node.location);
    note_outer_slots(scope, at, *expr);
    if (&at != &scope) named_outside_.try_emplace(column.slot, node.location);
    return expr;
  };
  const auto row_of = [&](const ScopeItem& item, Scope& at) -> ExprPtr {
    if (item.is_value) return use(item, item.columns[0], at);
    refuse_variable(node);
    require_lateral(item, node.location);
    std::vector<ExprPtr> fields;
    std::vector<std::string> names;
    const auto& columns = item.whole_row.empty() ? item.columns : item.whole_row;
    for (const ScopeColumn& column : columns) {
      if (column.computed) {
        unsupported("reading a computed column of the written view", node.location);
      }
      fields.push_back(slot_expr(column));
      names.push_back(column.name);
      note_outer_slots(scope, at, *fields.back());
    }
    auto row = std::make_unique<RowExpr>(std::move(fields));
    row->names = std::move(names);
    row->is_whole_row = true;
    if (item.row_type != TypeId::none) row->set_type(item.row_type);
    if (item.may_be_absent) tell_absence(*row, item, columns);
    row->set_location(node.location);
    return row;
  };

  // Returns xmax if it is known: of a row that INSERT returns. Null otherwise.
  const auto changer_in = [&](Scope& at) -> ExprPtr {
    if (&at != &scope || at.was_there == nullptr) return nullptr;
    if (!*at.was_there) {
      *at.was_there = new_slot();
      mark_used(**at.was_there);
    }
    std::vector<ExprPtr> operands;
    operands.push_back(
        std::make_unique<SlotExpr>(TypeId::bool_, kNoTypmod, **at.was_there, SlotExpr::Origin{}));
    auto expr = std::make_unique<SessionFunctionExpr>(names_.row_identity_functions().changer,
                                                      std::move(operands));
    expr->set_location(node.location);
    return expr;
  };
  // Returns xmin of system relations, whose rows are computed: they have always existed.
  const auto maker_in = [&](const ScopeItem& item) -> ExprPtr {
    if (!item.table || item.table->relation.kind != RelationKind::computed) return nullptr;
    constexpr std::uint32_t kFrozen = 2;
    auto expr = std::make_unique<ConstantExpr>(TypeId::xid, kNoTypmod, Value::from_oid(kFrozen));
    expr->set_location(node.location);
    return expr;
  };
  // The number of a row of the item; null where it can have none.
  const auto identity_in = [&](const ScopeItem& item, Scope& at) -> ExprPtr {
    const std::vector<const ScopeColumn*> key = shown_key(item);
    if (key.empty() || !numbers_rows(scope.clause)) return nullptr;
    std::vector<ExprPtr> operands;
    operands.push_back(std::make_unique<ConstantExpr>(TypeId::oid, kNoTypmod,
                                                      Value::from_oid(item.table->relation.oid)));
    for (const ScopeColumn* column : key) operands.push_back(use(item, *column, at));
    auto expr = std::make_unique<SessionFunctionExpr>(names_.row_identity_functions().number,
                                                      std::move(operands));
    expr->set_location(node.location);
    return expr;
  };

  if (parts == 1 && !whole_row) {
    for (Scope* at = &scope; at != nullptr; at = at->parent) {
      const Found found = find_unqualified(*at, part(0));
      if (found.matches > 1) {
        throw sql_error(sqlstate::ambiguous_column, "column reference \"{}\" is ambiguous", part(0))
            .at_position(node.location + 1);
      }
      if (found.matches == 1) return use(*found.item, *found.column, *at);
    }
    for (Scope* at = &scope; at != nullptr; at = at->parent) {
      if (const ScopeItem* item = find_item(*at, {}, part(0), node.location))
        return row_of(*item, *at);
    }
    if (part(0) == "tableoid") {
      if (const ScopeItem* item = only_table(scope)) {
        return table_of_row(*item, scope, scope, node.location);
      }
    }
    if (ExprPtr parameter = named_parameter(part(0), node.location)) return parameter;
    if (ExprPtr variable = body_variable(node, Fields::must_be)) return variable;
    if (any_table(scope)) require_readable(scope, part(0), node.location);
    if (part(0) == "ctid") {
      const auto has_rows = [](const ScopeItem& item) {
        return item.named && item.reachable && item.table != nullptr && !item.is_version;
      };
      const auto tables = std::ranges::count_if(scope.items, has_rows);
      if (tables > 1) {
        throw SqlError{sqlstate::ambiguous_column, "column reference \"ctid\" is ambiguous"}
            .at_position(node.location + 1);
      }
      if (tables == 1) {
        const ScopeItem& item = *std::ranges::find_if(scope.items, has_rows);
        if (ExprPtr identity = identity_in(item, scope)) {
          if (scope.clause != Clause::policy) note_system_column(item);
          return identity;
        }
      }
    }
    if (part(0) == "xmin") {
      if (const ScopeItem* item = only_table(scope)) {
        if (ExprPtr maker = maker_in(*item)) return maker;
      }
    }
    if (part(0) == "xmax") {
      if (ExprPtr changer = changer_in(scope)) return changer;
    }
    if (is_system_column(part(0)) && any_table(scope)) refuse_system_column(part(0), node.location);
    throw_missing_column(scope, {}, part(0), node.location);
  }

  // table.column, schema.table.column, database.schema.table.column; or the same with .*
  const std::size_t table_part = whole_row ? parts - 1 : parts - 2;
  const std::string_view schema = table_part >= 1 ? part(table_part - 1) : std::string_view{};
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    const ScopeItem* item = find_item(*at, schema, part(table_part), node.location);
    if (item == nullptr) continue;
    if (whole_row) return row_of(*item, *at);
    const ScopeColumn* match = nullptr;
    for (const ScopeColumn& column : item->columns) {
      if (column.name != part(parts - 1)) continue;
      if (match != nullptr) {
        throw sql_error(sqlstate::ambiguous_column, "column reference \"{}\" is ambiguous",
                        part(parts - 1))
            .at_position(node.location + 1);
      }
      match = &column;
    }
    if (match != nullptr) return use(*item, *match, *at);
    if (part(parts - 1) == "tableoid" && item->table) {
      return table_of_row(*item, scope, *at, node.location);
    }
    if (ExprPtr variable = body_variable(node, Fields::may_miss)) return variable;
    if (item->table) require_readable(scope, part(parts - 1), node.location);
    if (part(parts - 1) == "ctid") {
      if (ExprPtr identity = identity_in(*item, *at)) {
        if (scope.clause != Clause::policy) note_system_column(*item);
        return identity;
      }
    }
    if (part(parts - 1) == "xmin") {
      if (ExprPtr maker = maker_in(*item)) return maker;
    }
    if (part(parts - 1) == "xmax") {
      if (ExprPtr changer = changer_in(*at)) return changer;
    }
    if (is_system_column(part(parts - 1)) && item->table) {
      refuse_system_column(part(parts - 1), node.location);
    }
    if (item->row_type != TypeId::none || item->is_value) {
      if (ExprPtr called = call_of_row(node, row_of(*item, *at), scope)) return called;
    }
    throw_missing_column(scope, part(table_part), part(parts - 1), node.location);
  }
  // A parameter's row, or a field of it.
  if (ExprPtr row = row_parameter(node)) {
    return whole_row ? std::move(row) : field_of(std::move(row), part(parts - 1), node.location);
  }
  if (parts == 2 && !whole_row && is_body_of(part(0))) {
    if (ExprPtr parameter = named_parameter(part(1), node.location)) return parameter;
  }
  if (ExprPtr variable = body_variable(node, Fields::must_be)) return variable;
  // Without the parentheses that PostgreSQL requires, composite.field is a missing table.
  throw_missing_table(scope, schema, part(table_part), node.location);
}

/// Returns the parameter of a composite type that `v.field`, `v.*`, `function.v.field` or
/// `function.v.*` is about; null if there is none.
ExprPtr ExpressionBinder::row_parameter(const ast::ColumnRef& node) {
  const std::size_t before = node.fields.size() - 1;
  if (before == 0 || before > 2) return nullptr;
  if (before == 2 && !is_body_of(ast::string_of(node.fields[0]))) return nullptr;
  ExprPtr parameter = named_parameter(ast::string_of(node.fields[before - 1]), node.location);
  const auto shape = parameter ? row_shape(base_type(parameter->type())) : nullptr;
  if (!shape) return nullptr;
  const bool has_field =
      ast::is<ast::A_Star>(node.fields.back()) ||
      std::ranges::find(shape->names, ast::string_of(node.fields.back())) != shape->names.end();
  return has_field ? std::move(parameter) : nullptr;
}

}  // namespace swizzle::sql
