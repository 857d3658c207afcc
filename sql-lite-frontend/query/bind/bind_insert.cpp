#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/row_star.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// INSERT.
namespace swizzle::sql {
namespace {

bool calls_set_function(const ast::Node& node) {
  check_stack();
  if (ast::is<ast::SubLink>(&node)) return false;
  if (const auto* call = ast::try_as<ast::FuncCall>(&node)) {
    for (const Function* function : functions_named(ast::string_of(call->funcname.back()))) {
      if (function->kind == FunctionKind::set || function->returns_set) return true;
    }
  }
  bool found = false;
  ast::for_each_child(node,
                      [&](const ast::Node& child) { found = found || calls_set_function(child); });
  return found;
}

/// The target of the list's place; null where the statement lists none.
const ast::ResTarget* target_at(ast::NodeList names, std::size_t place) {
  return names.empty() ? nullptr : &ast::as<ast::ResTarget>(names[place]);
}

bool is_part(const ast::ResTarget& target) {
  return !target.indirection.empty();
}

/// Several parts of one column are one value of the row.
std::vector<std::size_t> without_repeats(std::span<const std::size_t> columns) {
  std::vector<std::size_t> once;
  for (const std::size_t column : columns) {
    if (std::ranges::find(once, column) == once.end()) once.push_back(column);
  }
  return once;
}

std::size_t place_of(std::span<const std::size_t> columns, std::size_t column) {
  return static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
}

}  // namespace

std::vector<std::size_t> Binder::insert_columns(const WriteStatement& write, ast::NodeList names) {
  const Relation& relation = write.table->relation;
  std::vector<std::size_t> columns;
  if (names.empty() && write.view.target) {
    for (const ViewTargetColumn& column : write.view.target->columns) {
      if (!column.position) refuse_computed_target(write, column.name);
      columns.push_back(*column.position);
    }
    return columns;
  }
  if (names.empty()) {
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      if (!relation.columns[i].dropped) columns.push_back(i);
    }
    return columns;
  }
  for (const ast::Node* node : names) {
    const auto& target = ast::as<ast::ResTarget>(node);
    const auto position = target_position(write, target.name);
    if (!position) {
      throw sql_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                      target.name,
                      write.view.target ? write.view.target->view->relation.name : relation.name)
          .at_position(target.location + 1);
    }
    const std::size_t earlier = place_of(columns, *position);
    if (earlier < columns.size() && target_at(names, earlier)->name != target.name) {
      refuse_second_assignment(relation.columns[*position].name);
    }
    if (earlier < columns.size() && !(is_part(target) && is_part(*target_at(names, earlier)))) {
      throw sql_error(sqlstate::duplicate_column, "column \"{}\" specified more than once",
                      target.name)
          .at_position(target.location + 1);
    }
    columns.push_back(*position);
  }
  return columns;
}

/// Identity and generated columns take no value of the statement's, unless it insists.
void Binder::check_given_column(const WriteStatement& write, std::size_t position,
                                ast::OverridingKind overriding) {
  const Column& column = write.table->relation.columns[position];
  if (column.generated) {
    throw sql_error(sqlstate::generated_always,
                    "cannot insert a non-DEFAULT value into column \"{}\"", column.name)
        .with_detail(fmt::format("Column \"{}\" is a generated column.", column.name));
  }
  if (column.identity == 'a' && overriding != ast::OverridingKind::system_value) {
    throw sql_error(sqlstate::generated_always,
                    "cannot insert a non-DEFAULT value into column \"{}\"", column.name)
        .with_detail(fmt::format("Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                                 column.name))
        .with_hint("Use OVERRIDING SYSTEM VALUE to override.");
  }
}

/// Binds one row of VALUES; null for DEFAULT.
std::vector<ExprPtr> Binder::bind_given(ast::NodeList values, Scope& scope) {
  std::vector<ExprPtr> given;
  for (const ast::Node* value : values) {
    if (is_star_of_row(value)) {
      ast::RowExpr row{};
      row.args = ast::NodeList{&value, 1};
      std::ranges::move(fields_of_row(row, scope), std::back_inserter(given));
    } else {
      given.push_back(ast::is<ast::SetToDefault>(value) ? nullptr : bind_expression(value, scope));
    }
  }
  return given;
}

/// A view may have several names for one column of its table, of which one can be written.
void Binder::refuse_second_names(const WriteStatement& write) {
  if (!write.view.target) return;
  for (std::size_t i = 0; i < write.insert.columns.size(); ++i) {
    if (place_of(write.insert.columns, write.insert.columns[i]) == i) continue;
    refuse_second_assignment(write.table->relation.columns[write.insert.columns[i]].name);
  }
}

/// Throws 42601 if there are not as many values as columns. Without a column list, the columns that
/// the row leaves out take their defaults.
void Binder::fit_columns(WriteStatement& write, std::span<const ExprPtr> given,
                         ast::NodeList columns) {
  if (given.size() > write.insert.columns.size()) {
    const ExprPtr& extra = given[write.insert.columns.size()];
    throw SqlError{sqlstate::syntax_error, "INSERT has more expressions than target columns"}
        .at_position(extra ? extra->location() + 1 : 0);
  }
  if (given.size() < write.insert.columns.size() && !columns.empty()) {
    const auto& extra = ast::as<ast::ResTarget>(columns[given.size()]);
    throw SqlError{sqlstate::syntax_error, "INSERT has more target columns than expressions"}
        .at_position(extra.location + 1);
  }
  write.insert.columns.resize(given.size());
  if (columns.empty()) refuse_second_names(write);
}

/// Brings the values for `write.columns` to the types of `columns`, which are the same without
/// repeats.
std::vector<ExprPtr> Binder::place_given(const WriteStatement& write, std::vector<ExprPtr> given,
                                         std::span<const std::size_t> columns,
                                         const InsertedColumns& named, Scope& scope) {
  const bool ignores_given = named.overriding == ast::OverridingKind::user_value;
  std::vector<ExprPtr> row(columns.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t position = write.insert.columns[i];
    const Column& column = write.table->relation.columns[position];
    const ast::ResTarget* target = target_at(named.list, i);
    ExprPtr& place = row[place_of(columns, position)];
    if (!given[i] || (ignores_given && column.identity != 0)) {
      if (target != nullptr) refuse_default_part(*target);
      place = column.generated ? constant(column.type, Value::null()) : default_of(write, position);
      continue;
    }
    check_given_column(write, position, named.overriding);
    place = inserted_value(std::move(place), std::move(given[i]), target, column, scope);
  }
  return row;
}

void Binder::bind_insert_values(WriteStatement& write, const ast::InsertStmt& insert,
                                Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(insert.select_stmt);
  auto query = std::make_unique<Query>();
  query->body = Query::Body::values;
  scope.query = query.get();
  scope.outer_slots = &query->outer_slots;
  bind_with(select.with_clause, scope, *query);
  const ClauseScope clause{scope, Clause::values};
  const Relation& relation = write.table->relation;
  std::vector<std::size_t> columns;
  std::optional<std::size_t> width;
  for (const ast::Node* node : select.values_lists) {
    // All are bound before one is brought to its column's type, so that parameters tell whether
    // they are of two types.
    std::vector<ExprPtr> given = bind_given(ast::as<ast::List>(node).items, scope);
    if (given.size() != width.value_or(given.size())) {
      throw SqlError{sqlstate::syntax_error, "VALUES lists must all be the same length"}
          .at_position(given[0] ? given[0]->location() + 1 : 0);
    }
    width = given.size();
    fit_columns(write, given, insert.cols);
    if (query->rows.empty()) columns = without_repeats(write.insert.columns);
    query->rows.push_back(
        place_given(write, std::move(given), columns, {insert.cols, insert.override_}, scope));
  }
  write.insert.columns = std::move(columns);
  for (const std::size_t position : write.insert.columns) {
    OutputTarget target;
    target.name = relation.columns[position].name;
    target.type = relation.columns[position].type;
    target.slot = new_slot();
    mark_used(target.slot);
    write.insert.source_slots.push_back(target.slot);
    query->body_slots.push_back(target.slot);
    query->targets.push_back(std::move(target));
  }
  bind_limit(select, scope, *query);
  write.insert.source = std::move(query);
}

/// The row that an action of MERGE inserts; its columns are in `write.columns` afterwards.
std::vector<Assignment> Binder::bind_merged_insert(WriteStatement& write, ast::NodeList values,
                                                   const InsertedColumns& named, Scope& scope) {
  write.insert.columns = insert_columns(write, named.list);
  std::vector<Assignment> assignments;
  if (values.empty()) {
    // DEFAULT VALUES
    write.insert.columns.clear();
  } else {
    const ClauseScope clause{scope, Clause::values};
    std::vector<ExprPtr> given = bind_given(values, scope);
    fit_columns(write, given, named.list);
    std::vector<std::size_t> columns = without_repeats(write.insert.columns);
    std::vector<ExprPtr> row = place_given(write, std::move(given), columns, named, scope);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      assignments.push_back({columns[i], std::move(row[i])});
    }
    write.insert.columns = std::move(columns);
  }
  bind_insert_defaults(write);
  std::ranges::move(write.insert.defaults, std::back_inserter(assignments));
  write.insert.defaults.clear();
  return assignments;
}

void Binder::bind_insert_select(WriteStatement& write, const ast::InsertStmt& insert,
                                Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(insert.select_stmt);
  auto query = bind_select(select, &scope, OutputTypes::open);
  if (query->targets.size() > write.insert.columns.size()) {
    throw SqlError{sqlstate::syntax_error, "INSERT has more expressions than target columns"};
  }
  if (query->targets.size() < write.insert.columns.size()) {
    if (!insert.cols.empty()) {
      const auto& extra = ast::as<ast::ResTarget>(insert.cols[query->targets.size()]);
      throw SqlError{sqlstate::syntax_error, "INSERT has more target columns than expressions"}
          .at_position(extra.location + 1);
    }
    write.insert.columns.resize(query->targets.size());
  }
  if (insert.cols.empty()) refuse_second_names(write);
  // The rows are brought to the columns' types on top of the query, so that its DISTINCT or UNION
  // still see its own.
  auto outer = std::make_unique<Query>();
  const std::vector<std::size_t> columns = without_repeats(write.insert.columns);
  outer->targets.resize(columns.size());
  for (std::size_t i = 0; i < write.insert.columns.size(); ++i) {
    const std::size_t position = write.insert.columns[i];
    const Column& column = write.table->relation.columns[position];
    check_given_column(write, position, insert.override_);
    OutputTarget& inner = query->targets[i];
    OutputTarget& target = outer->targets[place_of(columns, position)];
    const ast::ResTarget* named = target_at(insert.cols, i);
    if (inner.type == TypeId::unknown) {
      inner.type = named != nullptr ? part_type(*named, column) : column.type;
      inner.expr =
          coerce(std::move(inner.expr), inner.type, column.typmod, Implicitness::assignment);
      inner.slot = new_slot();
      mark_used(inner.slot);
    }
    mark_used(inner.slot);
    auto read = std::make_unique<SlotExpr>(inner.type, inner.typmod, inner.slot,
                                           SlotExpr::Origin{kNoOid, 0, {}, inner.name});
    if (inner.expr) read->set_location(inner.expr->location());
    target.expr = inserted_value(std::move(target.expr), std::move(read), named, column, scope);
    target.name = column.name;
    target.type = column.type;
  }
  for (OutputTarget& target : outer->targets) {
    const auto* plain = dynamic_cast<const SlotExpr*>(target.expr.get());
    target.slot = plain != nullptr ? plain->slot() : new_slot();
    mark_used(target.slot);
    write.insert.source_slots.push_back(target.slot);
  }
  write.insert.columns = columns;
  outer->outer_slots = query->outer_slots;
  auto node = std::make_unique<FromNode>();
  node->node = FromSubquery{std::move(query), "*SELECT*"};
  outer->from.push_back(std::move(node));
  write.insert.source = std::move(outer);
}

/// VALUES with one row is a select list: functions in it may return sets.
void Binder::bind_insert_sets(WriteStatement& write, const ast::InsertStmt& insert, Scope& scope) {
  const auto& values = ast::as<ast::SelectStmt>(insert.select_stmt);
  const ast::NodeList row = ast::as<ast::List>(values.values_lists[0]).items;
  std::vector<ast::ResTarget> targets(row.size());
  std::vector<const ast::Node*> list;
  for (std::size_t i = 0; i < row.size(); ++i) {
    targets[i].node_kind = ast::ResTarget::kKind;
    targets[i].val = row[i];
    list.push_back(&targets[i]);
  }
  ast::SelectStmt select = values;
  select.values_lists = {};
  select.target_list = list;
  ast::InsertStmt rewritten = insert;
  rewritten.select_stmt = &select;
  bind_insert_select(write, rewritten, scope);
}

void Binder::bind_insert_defaults(WriteStatement& write) {
  const Relation& relation = write.table->relation;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || column.generated) continue;
    if (std::ranges::find(write.insert.columns, i) != write.insert.columns.end()) continue;
    const bool has_default = !column.default_sql.empty() || is_domain(column.type) ||
                             view_default_of(write, i) != nullptr;
    if (!has_default) continue;
    write.insert.defaults.push_back({i, default_of(write, i)});
  }
}

std::unique_ptr<WriteStatement> Binder::bind_insert(const ast::InsertStmt& insert, Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::insert;
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(insert.with_clause, with_scope, write->eager);
  bind_write_target(*write, *insert.relation);
  write->insert.columns = insert_columns(*write, insert.cols);

  Scope scope;
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  {
    // The target's columns mean nothing here, and errors say so.
    Scope target = write_scope(*write, write->first_slot);
    target.items[0].reachable = false;
    scope.items = std::move(target.items);
  }
  if (insert.select_stmt == nullptr) {
    // DEFAULT VALUES
    write->insert.columns.clear();
    write->insert.source = std::make_unique<Query>();
  } else {
    const auto& select = ast::as<ast::SelectStmt>(insert.select_stmt);
    if (select.values_lists.size() == 1 && calls_set_function(*select.values_lists[0])) {
      bind_insert_sets(*write, insert, scope);
    } else if (!select.values_lists.empty()) {
      bind_insert_values(*write, insert, scope);
    } else {
      bind_insert_select(*write, insert, scope);
    }
  }
  note_inserted(*write);
  write->outer_slots.insert(write->outer_slots.end(), write->insert.source->outer_slots.begin(),
                            write->insert.source->outer_slots.end());
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  add_view_checks(*write, write->first_slot);
  bind_index_expressions(*write);
  if (insert.on_conflict_clause != nullptr) {
    if (write->view.target || write->view.instead)
      unsupported("ON CONFLICT on a view", insert.on_conflict_clause->location);
    bind_conflict(*write, *insert.on_conflict_clause, with_scope);
    note_key_columns(*write);
  }
  bind_triggers(*write);
  bind_partition_writes(*write);
  Scope returning = write_scope(*write, write->first_slot);
  returning.parent = &with_scope;
  returning.outer_slots = &write->outer_slots;
  if (!write->view.instead && !write->view.target) returning.was_there = &write->insert.was_there;
  const bool may_exist = write->insert.conflict.kind == ConflictAction::Kind::update;
  bind_returning(
      *write, insert.returning_clause, returning,
      {write->first_slot,
       may_exist ? std::optional{write->insert.conflict.existing_first_slot} : std::nullopt,
       write->first_slot});
  const std::optional<Slot> row_id = row_id_slot(*write->table, write->first_slot);
  if (row_id && is_used(*row_id)) write->insert.row_id_slot = row_id;
  secure_write(*write);
  remove_repeats(write->outer_slots);
  return write;
}

std::unique_ptr<WriteStatement> Binder::bind_row_source(const TablePtr& table,
                                                        std::span<const std::size_t> columns,
                                                        std::vector<Slot>& source_slots) {
  compute_virtual_columns();
  auto write = std::make_unique<WriteStatement>();
  write->table = table;
  write->alias = table->relation.name;
  depend_on(table);
  depend_on_foreign_keys(*table);
  if (table->relation.is_partitioned()) write->partitions.tree = whole_tree(table);
  write->first_slot = new_slots(row_slots(*table));
  write->insert.columns.assign(columns.begin(), columns.end());
  for (std::size_t i = 0; i < columns.size(); ++i) write->insert.source_slots.push_back(new_slot());
  source_slots = write->insert.source_slots;
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  bind_index_expressions(*write);
  bind_triggers(*write);
  bind_partition_writes(*write);
  return write;
}

std::vector<ExprPtr> Binder::bind_column_defaults(const TablePtr& table,
                                                  std::span<const std::size_t> columns) {
  std::vector<ExprPtr> defaults;
  for (const std::size_t position : columns) {
    const Column& column = table->relation.columns[position];
    const TypePtr domain = is_domain(column.type) ? names_.user_type(column.type) : nullptr;
    const bool has_default =
        !column.default_sql.empty() || (domain && !domain->default_sql.empty());
    defaults.push_back(has_default ? default_of(*table, position) : nullptr);
  }
  return defaults;
}

void Binder::bind_row_filter(WriteStatement& write, const ast::Node* where) {
  Scope scope = table_scope(write.table, write.alias, write.first_slot);
  scope.clause = Clause::copy_where;
  write.insert.row_filter = bind_condition(where, scope, "WHERE");
}

}  // namespace swizzle::sql
