#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/row_star.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// INSERT and ON CONFLICT.
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

/// Only a key whose entries never repeat can tell at once whether there is a conflict.
void require_immediate(NameSource& names, const Index& index, const Table& table) {
  if (!index.deferrable) return;
  SqlError error{SqlState{"55000"},
                 "ON CONFLICT does not support deferrable unique constraints/exclusion constraints "
                 "as arbiters"};
  error.fields().schema = names.schema_name(table.relation.schema);
  error.fields().table = table.relation.name;
  error.fields().constraint = index.name;
  throw error;
}

}  // namespace

std::vector<std::size_t> Binder::insert_columns(const WriteStatement& write, ast::NodeList names) {
  const Relation& relation = write.table->relation;
  std::vector<std::size_t> columns;
  if (names.empty() && write.through) {
    for (const ViewTargetColumn& column : write.through->columns) {
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
                      write.through ? write.through->view->relation.name : relation.name)
          .at_position(target.location + 1);
    }
    const std::size_t earlier = place_of(columns, *position);
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

void Binder::bind_insert_values(WriteStatement& write, const ast::InsertStmt& insert,
                                Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(insert.select_stmt);
  const bool ignores_given = insert.override_ == ast::OverridingKind::user_value;
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
    // they are of two types. Null: DEFAULT.
    std::vector<ExprPtr> given;
    for (const ast::Node* value : ast::as<ast::List>(node).items) {
      if (is_star_of_row(value)) {
        ast::RowExpr row{};
        row.args = ast::NodeList{&value, 1};
        std::ranges::move(fields_of_row(row, scope), std::back_inserter(given));
      } else {
        given.push_back(ast::is<ast::SetToDefault>(value) ? nullptr
                                                          : bind_expression(value, scope));
      }
    }
    const auto position_of = [&](std::size_t i) {
      return i < given.size() && given[i] ? given[i]->location() + 1 : 0;
    };
    if (given.size() != width.value_or(given.size())) {
      throw SqlError{sqlstate::syntax_error, "VALUES lists must all be the same length"}
          .at_position(position_of(0));
    }
    width = given.size();
    if (given.size() > write.columns.size()) {
      throw SqlError{sqlstate::syntax_error, "INSERT has more expressions than target columns"}
          .at_position(position_of(write.columns.size()));
    }
    if (given.size() < write.columns.size()) {
      if (!insert.cols.empty()) {
        const auto& extra = ast::as<ast::ResTarget>(insert.cols[given.size()]);
        throw SqlError{sqlstate::syntax_error, "INSERT has more target columns than expressions"}
            .at_position(extra.location + 1);
      }
      // Without a column list, the columns that the first row leaves out take their defaults.
      write.columns.resize(given.size());
    }
    if (query->rows.empty()) columns = without_repeats(write.columns);
    std::vector<ExprPtr> row(columns.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::size_t position = write.columns[i];
      const Column& column = relation.columns[position];
      const ast::ResTarget* target = target_at(insert.cols, i);
      ExprPtr& place = row[place_of(columns, position)];
      if (!given[i] || (ignores_given && column.identity != 0)) {
        if (target != nullptr) refuse_default_part(*target);
        place =
            column.generated ? constant(column.type, Value::null()) : default_of(write, position);
        continue;
      }
      check_given_column(write, position, insert.override_);
      place = inserted_value(std::move(place), std::move(given[i]), target, column, scope);
    }
    query->rows.push_back(std::move(row));
  }
  write.columns = std::move(columns);
  for (const std::size_t position : write.columns) {
    OutputTarget target;
    target.name = relation.columns[position].name;
    target.type = relation.columns[position].type;
    target.slot = new_slot();
    mark_used(target.slot);
    write.source_slots.push_back(target.slot);
    query->body_slots.push_back(target.slot);
    query->targets.push_back(std::move(target));
  }
  bind_limit(select, scope, *query);
  write.source = std::move(query);
}

void Binder::bind_insert_select(WriteStatement& write, const ast::InsertStmt& insert,
                                Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(insert.select_stmt);
  auto query = bind_select(select, &scope, OutputTypes::open);
  if (query->targets.size() > write.columns.size()) {
    throw SqlError{sqlstate::syntax_error, "INSERT has more expressions than target columns"};
  }
  if (query->targets.size() < write.columns.size()) {
    if (!insert.cols.empty()) {
      const auto& extra = ast::as<ast::ResTarget>(insert.cols[query->targets.size()]);
      throw SqlError{sqlstate::syntax_error, "INSERT has more target columns than expressions"}
          .at_position(extra.location + 1);
    }
    write.columns.resize(query->targets.size());
  }
  // The rows are brought to the columns' types on top of the query, so that its DISTINCT or UNION
  // still see its own.
  auto outer = std::make_unique<Query>();
  const std::vector<std::size_t> columns = without_repeats(write.columns);
  outer->targets.resize(columns.size());
  for (std::size_t i = 0; i < write.columns.size(); ++i) {
    const std::size_t position = write.columns[i];
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
    write.source_slots.push_back(target.slot);
  }
  write.columns = columns;
  outer->outer_slots = query->outer_slots;
  auto node = std::make_unique<FromNode>();
  node->node = FromSubquery{std::move(query), "*SELECT*"};
  outer->from.push_back(std::move(node));
  write.source = std::move(outer);
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
    if (std::ranges::find(write.columns, i) != write.columns.end()) continue;
    const bool has_default = !column.default_sql.empty() || is_domain(column.type) ||
                             view_default_of(write, i) != nullptr;
    if (!has_default) continue;
    write.defaults.push_back({i, default_of(write, i)});
  }
}

std::unique_ptr<WriteStatement> Binder::bind_insert(const ast::InsertStmt& insert, Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::insert;
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(insert.with_clause, with_scope, write->eager);
  bind_write_target(*write, *insert.relation, "insert into");
  write->columns = insert_columns(*write, insert.cols);

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
    write->columns.clear();
    write->source = std::make_unique<Query>();
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
  write->outer_slots.insert(write->outer_slots.end(), write->source->outer_slots.begin(),
                            write->source->outer_slots.end());
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  add_view_checks(*write, write->first_slot);
  bind_index_expressions(*write);
  if (insert.on_conflict_clause != nullptr) {
    if (write->through || write->instead)
      unsupported("ON CONFLICT on a view", insert.on_conflict_clause->location);
    bind_conflict(*write, *insert.on_conflict_clause, with_scope);
    note_key_columns(*write);
  }
  bind_triggers(*write);
  bind_partition_writes(*write);
  Scope returning = write_scope(*write, write->first_slot);
  returning.parent = &with_scope;
  returning.outer_slots = &write->outer_slots;
  if (!write->instead && !write->through) returning.was_there = &write->was_there;
  bind_returning(*write, insert.returning_clause, returning);
  secure_write(*write);
  remove_repeats(write->outer_slots);
  return write;
}

std::unique_ptr<WriteStatement> Binder::bind_row_source(const TablePtr& table,
                                                        std::span<const std::size_t> columns,
                                                        std::vector<Slot>& source_slots) {
  auto write = std::make_unique<WriteStatement>();
  write->table = table;
  write->alias = table->relation.name;
  depend_on(table);
  depend_on_foreign_keys(*table);
  if (table->relation.is_partitioned()) write->partitions = whole_tree(table);
  write->first_slot = new_slots(row_slots(*table));
  write->columns.assign(columns.begin(), columns.end());
  for (std::size_t i = 0; i < columns.size(); ++i) write->source_slots.push_back(new_slot());
  source_slots = write->source_slots;
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  bind_index_expressions(*write);
  bind_triggers(*write);
  bind_partition_writes(*write);
  return write;
}

void Binder::bind_row_filter(WriteStatement& write, const ast::Node* where) {
  Scope scope = table_scope(write.table, write.alias, write.first_slot);
  scope.clause = Clause::copy_where;
  write.row_filter = bind_condition(where, scope, "WHERE");
}

const Index* Binder::infer_index(const WriteStatement& write, const ast::InferClause& infer) {
  const Table& table = *write.table;
  if (!infer.conname.empty()) {
    const Constraint* constraint = table.constraint_named(infer.conname);
    if (constraint == nullptr) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" for table \"{}\" does not exist",
                  infer.conname, table.relation.name);
    }
    const Index* index = table.index_by_oid(constraint->index);
    if (index != nullptr && constraint->kind != ConstraintKind::foreign_key) {
      require_immediate(names_, *index, table);
      if (index->excludes() && write.conflict.kind == ConflictAction::Kind::update) {
        throw SqlError{sqlstate::wrong_object_type,
                       "ON CONFLICT DO UPDATE not supported with exclusion constraints"};
      }
      return index;
    }
  } else {
    const Slot first = new_slots(table.relation.columns.size());
    Scope scope = table_scope(write.table, table.relation.name, first);
    scope.clause = Clause::index_expression;
    std::vector<ExprPtr> wanted;
    for (const ast::Node* node : infer.index_elems) {
      const auto& element = ast::as<ast::IndexElem>(node);
      if (element.expr != nullptr) {
        wanted.push_back(bind_expression(element.expr, scope));
        continue;
      }
      const auto position = table.column_position(element.name);
      if (!position) {
        throw sql_error(sqlstate::undefined_column, "column \"{}\" does not exist", element.name)
            .at_position(infer.location + 1);
      }
      for (const ScopeColumn& column : scope.items[0].columns) {
        if (column.slot == first + *position) wanted.push_back(slot_expr(column));
      }
    }
    ExprPtr where;
    if (infer.where_clause != nullptr) where = bind_condition(infer.where_clause, scope, "WHERE");
    for (const Index& index : table.relation.indexes) {
      if (!index.is_key() || !answers_inference(write, index, first, wanted, where.get())) continue;
      require_immediate(names_, index, table);
      return &index;
    }
  }
  throw SqlError{sqlstate::invalid_column_reference,
                 "there is no unique or exclusion constraint matching the "
                 "ON CONFLICT specification"};
}

namespace {

/// The conditions that an AND of them consists of.
void collect_conjuncts(const Expr& condition, std::vector<const Expr*>& into) {
  check_stack();
  const auto* const both = dynamic_cast<const BooleanExpr*>(&condition);
  if (both == nullptr || both->kind() != BooleanExpr::Kind::conjunction) {
    into.push_back(&condition);
    return;
  }
  for (const ExprPtr& part : both->operands()) collect_conjuncts(*part, into);
}

}  // namespace

/// Whether the index is over exactly these columns and expressions, in any order, and holds all
/// rows for which `where` is true.
bool Binder::answers_inference(const WriteStatement& write, const Index& index, Slot first,
                               std::span<const ExprPtr> wanted, const Expr* where) {
  const Table& table = *write.table;
  std::vector<ExprPtr> parts;
  for (const IndexColumn& column : index.columns) {
    if (column.column != 0) {
      parts.push_back(std::make_unique<SlotExpr>(column.type, kNoTypmod,
                                                 first + static_cast<Slot>(column.column - 1),
                                                 SlotExpr::Origin{}));
    } else {
      parts.push_back(
          bind_table_expression(column.expression_sql, table, first, Clause::index_expression));
    }
  }
  const auto is_in = [](const Expr& expr, std::span<const ExprPtr> list) {
    return std::ranges::any_of(list,
                               [&](const ExprPtr& other) { return same_expression(expr, *other); });
  };
  for (const ExprPtr& part : parts) {
    if (!is_in(*part, wanted)) return false;
  }
  for (const ExprPtr& expr : wanted) {
    if (!is_in(*expr, parts)) return false;
  }
  if (index.predicate_sql.empty()) return true;
  if (where == nullptr) return false;
  // The rows that it holds are those of all its conditions: each must be among the given ones.
  const ExprPtr predicate =
      bind_table_expression(index.predicate_sql, table, first, Clause::index_predicate);
  std::vector<const Expr*> given;
  collect_conjuncts(*where, given);
  std::vector<const Expr*> needed;
  collect_conjuncts(*predicate, needed);
  return std::ranges::all_of(needed, [&](const Expr* one) {
    return std::ranges::any_of(given,
                               [&](const Expr* other) { return same_expression(*one, *other); });
  });
}

void Binder::bind_conflict(WriteStatement& write, const ast::OnConflictClause& clause,
                           Scope& with_scope) {
  write.conflict.kind = clause.action == ast::OnConflictAction::update
                            ? ConflictAction::Kind::update
                            : ConflictAction::Kind::nothing;
  if (clause.infer != nullptr) {
    write.conflict.index = infer_index(write, *clause.infer);
    // ON CONFLICT reveals whether such a row exists, so it counts as reading these columns.
    std::vector<std::size_t>& read = noted_[write.access].access.read;
    for (const IndexColumn& column : write.conflict.index->columns) {
      if (column.column != 0) read.push_back(static_cast<std::size_t>(column.column - 1));
    }
  } else if (write.conflict.kind == ConflictAction::Kind::nothing) {
    for (const Index& index : write.table->relation.indexes) {
      require_immediate(names_, index, *write.table);
    }
  } else if (write.conflict.kind == ConflictAction::Kind::update) {
    throw SqlError{sqlstate::syntax_error,
                   "ON CONFLICT DO UPDATE requires inference specification or constraint name"}
        .with_hint("For example, ON CONFLICT (column_name).")
        .at_position(clause.location + 1);
  }
  if (write.conflict.kind != ConflictAction::Kind::update) return;
  write.conflict.existing_first_slot = new_slots(row_slots(*write.table));
  Scope scope = table_scope(write.table, write.alias, write.conflict.existing_first_slot);
  ++relations_named_;
  Scope excluded = table_scope(write.table, "excluded", write.first_slot);
  scope.items.push_back(std::move(excluded.items[0]));
  scope.parent = &with_scope;
  scope.outer_slots = &write.outer_slots;
  write.assignments = bind_assignments(write, clause.target_list, scope);
  if (clause.where_clause != nullptr) {
    const ClauseScope in_where{scope, Clause::where};
    write.conflict_where.push_back(bind_condition(clause.where_clause, scope, "WHERE"));
  }
  noted_[write.access].access.wants |= privilege::kUpdate;
  note_columns(write, write.assignments);
  // The row proposed for insertion counts as read as well: EXCLUDED has the table's columns.
  for (const Slot row : {write.conflict.existing_first_slot, write.first_slot}) {
    for (const Assignment& assignment : write.assignments) {
      note_reads(write, *assignment.expr, row);
    }
    for (const ExprPtr& condition : write.conflict_where) note_reads(write, *condition, row);
  }
}

}  // namespace swizzle::sql
