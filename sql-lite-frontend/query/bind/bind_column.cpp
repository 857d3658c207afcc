#include <fmt/format.h>

#include <algorithm>

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

/// True if the item's rows have system columns: it is a relation, and no view.
bool has_system_columns(const ScopeItem& item) {
  return item.table != nullptr && !item.is_join && item.table->relation.kind != RelationKind::view;
}

[[noreturn]] void refuse_system_column(std::string_view name, std::int32_t location) {
  throw sql_error(sqlstate::feature_not_supported, "system column \"{}\" is not supported", name)
      .at_position(location + 1);
}

/// MERGE's conditions may read no column of the system's but tableoid.
void require_readable(const Scope& scope, std::string_view name, std::int32_t location) {
  if (scope.clause != Clause::merge_when || !is_system_column_of_row(name)) return;
  throw sql_error(sqlstate::invalid_column_reference,
                  "cannot use system column \"{}\" in MERGE WHEN condition", name)
      .at_position(location + 1);
}

/// Throws PostgreSQL's error if the clause is stored with a table, and so may read no column of the
/// system's.
void require_unstored(Clause clause, std::string_view name, std::int32_t location) {
  switch (clause) {
    case Clause::check:
      throw sql_error(sqlstate::invalid_column_reference,
                      "system column \"{}\" reference in check constraint is invalid", name)
          .at_position(location + 1);
    case Clause::generated:
      throw sql_error(sqlstate::invalid_column_reference,
                      "cannot use system column \"{}\" in column generation expression", name)
          .at_position(location + 1);
    case Clause::index_expression:
    case Clause::index_predicate:
      throw SqlError{sqlstate::feature_not_supported,
                     "index creation on system columns is not supported"};
    case Clause::column_default:
    case Clause::trigger_when:
    case Clause::partition_key:
    case Clause::copy_where:
      refuse_system_column(name, location);
    default:
      break;
  }
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
    if (number == 0 || number > columns.size()) continue;
    if (!item.table->relation.never_null(number - 1)) continue;
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
    return number > 0 && number <= columns.size() && item.table->relation.never_null(number - 1);
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
    if (scope.clause == Clause::policy && !item.table->relation.children.empty()) {
      unsupported("tableoid in a policy of a table with children", location);
    }
    ExprPtr oid = std::make_unique<ConstantExpr>(TypeId::oid, kNoTypmod,
                                                 Value::from_oid(item.table->relation.oid));
    return item.is_version ? unless_absent(std::move(oid), item) : std::move(oid);
  }
  require_unstored(scope.clause, "tableoid", location);
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
  // Returns the system column of the item's rows.
  const auto system_in = [&](const ScopeItem& item, Scope& at, std::string_view name) -> ExprPtr {
    require_readable(scope, name, node.location);
    require_unstored(scope.clause, name, node.location);
    refuse_variable(node);
    if (name == "xmax") {
      if (ExprPtr changer = changer_in(at)) return changer;
    }
    const bool has_heirs =
        item.partition_slot && item.table && !item.table->relation.is_partitioned();
    if (has_heirs) {
      throw sql_error(sqlstate::feature_not_supported,
                      "system column \"{}\" of a table with children is not supported", name)
          .with_hint("Use ONLY to read the rows of the table itself.")
          .at_position(node.location + 1);
    }
    ExprPtr expr = system_column(name, item, scope,
                                 [&](const ScopeColumn& column) { return use(item, column, at); });
    if (!expr && item.table->relation.is_partitioned()) {
      throw sql_error(sqlstate::feature_not_supported,
                      "system column \"{}\" of a partitioned table without a primary key is not "
                      "supported",
                      name)
          .at_position(node.location + 1);
    }
    if (!expr) refuse_system_column(name, node.location);
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
    if (is_system_column_of_row(part(0))) {
      for (Scope* at = &scope; at != nullptr; at = at->parent) {
        const auto is_meant = [](const ScopeItem& item) {
          return item.named && item.reachable && !item.is_version && has_system_columns(item);
        };
        const auto tables = std::ranges::count_if(at->items, is_meant);
        if (tables > 1) {
          throw sql_error(sqlstate::ambiguous_column, "column reference \"{}\" is ambiguous",
                          part(0))
              .at_position(node.location + 1);
        }
        if (tables == 1) return system_in(*std::ranges::find_if(at->items, is_meant), *at, part(0));
      }
    }
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
    if (is_system_column_of_row(part(parts - 1)) && has_system_columns(*item)) {
      return system_in(*item, *at, part(parts - 1));
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
