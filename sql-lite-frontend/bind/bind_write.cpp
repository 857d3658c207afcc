#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDuplicateColumn{"42701"};
constexpr SqlState kGeneratedAlways{"428C9"};
constexpr SqlState kInvalidColumnReference{"42P10"};
constexpr SqlState kDuplicateAlias{"42712"};

std::string_view writes_to(std::string_view verb) {
  if (verb == "insert into") return "INSERT";
  return verb == "update" ? "UPDATE" : "DELETE";
}

void remove_repeats(std::vector<Slot>& slots) {
  std::ranges::sort(slots);
  const auto repeated = std::ranges::unique(slots);
  slots.erase(repeated.begin(), repeated.end());
}

}  // namespace

void Binder::bind_write_target(WriteStatement& write, const ast::RangeVar& range,
                               std::string_view verb) {
  write.table = require_table(range);
  depend_on(write.table);
  const Relation& relation = write.table->relation;
  depend_on_foreign_keys(*write.table);
  switch (relation.kind) {
    case RelationKind::table:
      break;
    case RelationKind::view:
      unsupported(fmt::format("{} on a view", writes_to(verb)), range.location);
    case RelationKind::materialized:
      throw sql_error(sqlstate::wrong_object_type, "cannot change materialized view \"{}\"",
                      relation.name);
    case RelationKind::sequence:
      throw sql_error(sqlstate::wrong_object_type, "cannot change sequence \"{}\"", relation.name);
    case RelationKind::computed:
      throw sql_error(SqlState{"42501"}, "permission denied: \"{}\" is a system catalog",
                      relation.name);
  }
  write.alias = range.alias != nullptr ? std::string{range.alias->aliasname} : relation.name;
  write.first_slot = new_slots(relation.columns.size());
}

ExprPtr Binder::default_of(const Table& table, std::size_t position) {
  const Column& column = table.relation.columns[position];
  if (column.default_sql.empty()) return constant(column.type, Value::null());
  ExprPtr expr = bind_table_expression(column.default_sql, table, 0, Clause::column_default);
  return coerce_to_column(std::move(expr), column);
}

/// CHECK constraints and stored generated columns, over the new row in `row`.
void Binder::bind_row_rules(WriteStatement& write, Slot row) {
  const Relation& relation = write.table->relation;
  for (const Constraint& constraint : relation.constraints) {
    if (constraint.kind != ConstraintKind::check) continue;
    write.checks.push_back(
        {bind_table_expression(constraint.check_sql, *write.table, row, Clause::check),
         constraint.name});
  }
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || !column.generated) continue;
    ExprPtr expr = bind_table_expression(column.default_sql, *write.table, row, Clause::generated);
    write.generated.push_back({i, coerce_to_column(std::move(expr), column)});
  }
}

void Binder::bind_index_expressions(WriteStatement& write) {
  const Relation& relation = write.table->relation;
  const bool any = std::ranges::any_of(relation.indexes, [](const Index& index) {
    return !index.predicate_sql.empty() ||
           std::ranges::any_of(index.columns,
                               [](const IndexColumn& column) { return column.column == 0; });
  });
  if (!any) return;
  write.index_first_slot = new_slots(relation.columns.size());
  for (const Index& index : relation.indexes) {
    WriteStatement::IndexExpressions expressions;
    for (const IndexColumn& column : index.columns) {
      expressions.columns.push_back(column.column != 0
                                        ? nullptr
                                        : bind_table_expression(column.expression_sql, *write.table,
                                                                write.index_first_slot,
                                                                Clause::index_expression));
    }
    if (!index.predicate_sql.empty()) {
      expressions.predicate = bind_table_expression(
          index.predicate_sql, *write.table, write.index_first_slot, Clause::index_predicate);
    }
    write.index_expressions.push_back(std::move(expressions));
  }
}

std::vector<std::size_t> Binder::insert_columns(const WriteStatement& write, ast::NodeList names) {
  const Relation& relation = write.table->relation;
  std::vector<std::size_t> columns;
  if (names.empty()) {
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      if (!relation.columns[i].dropped) columns.push_back(i);
    }
    return columns;
  }
  for (const ast::Node* node : names) {
    const auto& target = ast::as<ast::ResTarget>(node);
    const auto position = write.table->column_position(target.name);
    if (!position) {
      throw sql_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                      target.name, relation.name)
          .at_position(target.location + 1);
    }
    if (!target.indirection.empty()) {
      unsupported("INSERT into a part of a column", target.location);
    }
    if (std::ranges::find(columns, *position) != columns.end()) {
      throw sql_error(kDuplicateColumn, "column \"{}\" specified more than once", target.name)
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
    throw sql_error(kGeneratedAlways, "cannot insert a non-DEFAULT value into column \"{}\"",
                    column.name)
        .with_detail(fmt::format("Column \"{}\" is a generated column.", column.name));
  }
  if (column.identity == 'a' && overriding != ast::OverridingKind::system_value) {
    throw sql_error(kGeneratedAlways, "cannot insert a non-DEFAULT value into column \"{}\"",
                    column.name)
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
  for (const ast::Node* node : select.values_lists) {
    const ast::NodeList values = ast::as<ast::List>(node).items;
    if (values.size() > write.columns.size()) {
      throw SqlError{sqlstate::syntax_error, "INSERT has more expressions than target columns"}
          .at_position(bind_expression(values[write.columns.size()], scope)->location() + 1);
    }
    if (values.size() < write.columns.size()) {
      if (!insert.cols.empty()) {
        const auto& extra = ast::as<ast::ResTarget>(insert.cols[values.size()]);
        throw SqlError{sqlstate::syntax_error, "INSERT has more target columns than expressions"}
            .at_position(extra.location + 1);
      }
      // Without a column list, the columns that the first row leaves out take their defaults.
      if (query->rows.empty()) {
        write.columns.resize(values.size());
      } else {
        throw SqlError{sqlstate::syntax_error, "VALUES lists must all be the same length"};
      }
    }
    std::vector<ExprPtr> row;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t position = write.columns[i];
      const Column& column = relation.columns[position];
      if (ast::is<ast::SetToDefault>(values[i]) || (ignores_given && column.identity != 0)) {
        row.push_back(column.generated ? constant(column.type, Value::null())
                                       : default_of(*write.table, position));
        continue;
      }
      check_given_column(write, position, insert.override_);
      row.push_back(coerce_to_column(bind_expression(values[i], scope), column));
    }
    query->rows.push_back(std::move(row));
  }
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
  for (std::size_t i = 0; i < write.columns.size(); ++i) {
    const std::size_t position = write.columns[i];
    const Column& column = write.table->relation.columns[position];
    check_given_column(write, position, insert.override_);
    OutputTarget& inner = query->targets[i];
    OutputTarget target;
    if (inner.type == TypeId::unknown) {
      inner.expr = coerce_to_column(std::move(inner.expr), column);
      inner.type = column.type;
      inner.slot = new_slot();
      mark_used(inner.slot);
    }
    mark_used(inner.slot);
    auto read = std::make_unique<SlotExpr>(inner.type, inner.typmod, inner.slot,
                                           SlotExpr::Origin{kNoOid, 0, {}, inner.name});
    if (inner.expr) read->set_location(inner.expr->location());
    target.expr = coerce_to_column(std::move(read), column);
    target.name = column.name;
    target.type = column.type;
    const auto* plain = dynamic_cast<const SlotExpr*>(target.expr.get());
    target.slot = plain != nullptr ? plain->slot() : new_slot();
    mark_used(target.slot);
    write.source_slots.push_back(target.slot);
    outer->targets.push_back(std::move(target));
  }
  outer->outer_slots = query->outer_slots;
  auto node = std::make_unique<FromNode>();
  node->node = FromSubquery{std::move(query), "*SELECT*"};
  outer->from.push_back(std::move(node));
  write.source = std::move(outer);
}

void Binder::bind_insert_defaults(WriteStatement& write) {
  const Relation& relation = write.table->relation;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || column.generated) continue;
    if (std::ranges::find(write.columns, i) != write.columns.end()) continue;
    if (column.default_sql.empty()) continue;
    write.defaults.push_back({i, default_of(*write.table, i)});
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
  if (insert.select_stmt == nullptr) {
    // DEFAULT VALUES
    write->columns.clear();
    write->source = std::make_unique<Query>();
  } else if (!ast::as<ast::SelectStmt>(insert.select_stmt).values_lists.empty()) {
    bind_insert_values(*write, insert, scope);
  } else {
    bind_insert_select(*write, insert, scope);
  }
  write->outer_slots.insert(write->outer_slots.end(), write->source->outer_slots.begin(),
                            write->source->outer_slots.end());
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  bind_index_expressions(*write);
  if (insert.on_conflict_clause != nullptr) bind_conflict(*write, *insert.on_conflict_clause);
  Scope returning = table_scope(write->table, write->alias, write->first_slot);
  returning.parent = &with_scope;
  returning.outer_slots = &write->outer_slots;
  bind_returning(*write, insert.returning_list, returning);
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
  write->first_slot = new_slots(table->relation.columns.size());
  write->columns.assign(columns.begin(), columns.end());
  for (std::size_t i = 0; i < columns.size(); ++i) write->source_slots.push_back(new_slot());
  source_slots = write->source_slots;
  bind_insert_defaults(*write);
  bind_row_rules(*write, write->first_slot);
  bind_index_expressions(*write);
  return write;
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
    if (index != nullptr && constraint->kind != ConstraintKind::foreign_key) return index;
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
      if (index.unique && answers_inference(write, index, first, wanted, where.get())) {
        return &index;
      }
    }
  }
  throw SqlError{kInvalidColumnReference,
                 "there is no unique or exclusion constraint matching the "
                 "ON CONFLICT specification"};
}

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
  return where != nullptr &&
         same_expression(*where, *bind_table_expression(index.predicate_sql, table, first,
                                                        Clause::index_predicate));
}

void Binder::bind_conflict(WriteStatement& write, const ast::OnConflictClause& clause) {
  write.conflict.kind = clause.action == ast::OnConflictAction::update
                            ? ConflictAction::Kind::update
                            : ConflictAction::Kind::nothing;
  if (clause.infer != nullptr) {
    write.conflict.index = infer_index(write, *clause.infer);
  } else if (write.conflict.kind == ConflictAction::Kind::update) {
    throw SqlError{sqlstate::syntax_error,
                   "ON CONFLICT DO UPDATE requires inference specification or constraint name"}
        .with_hint("For example, ON CONFLICT (column_name).")
        .at_position(clause.location + 1);
  }
  if (write.conflict.kind != ConflictAction::Kind::update) return;
  write.conflict.existing_first_slot = new_slots(write.table->relation.columns.size());
  Scope scope = table_scope(write.table, write.alias, write.conflict.existing_first_slot);
  Scope excluded = table_scope(write.table, "excluded", write.first_slot);
  scope.items.push_back(std::move(excluded.items[0]));
  scope.outer_slots = &write.outer_slots;
  write.assignments = bind_assignments(write, clause.target_list, scope);
  if (clause.where_clause != nullptr) {
    const ClauseScope in_where{scope, Clause::where};
    write.conflict_where.push_back(bind_condition(clause.where_clause, scope, "WHERE"));
  }
}

std::vector<Assignment> Binder::bind_assignments(const WriteStatement& write, ast::NodeList targets,
                                                 Scope& scope) {
  const Relation& relation = write.table->relation;
  std::vector<Assignment> assignments;
  std::vector<ScopeColumn> further;
  const ClauseScope clause{scope, Clause::update_set};
  for (const ast::Node* node : targets) {
    const auto& target = ast::as<ast::ResTarget>(node);
    const auto position = write.table->column_position(target.name);
    if (!position) {
      throw sql_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                      target.name, relation.name)
          .at_position(target.location + 1);
    }
    if (!target.indirection.empty()) {
      unsupported("UPDATE of a part of a column", target.location);
    }
    for (const Assignment& other : assignments) {
      if (other.position == *position) {
        throw sql_error(sqlstate::syntax_error, "multiple assignments to same column \"{}\"",
                        target.name);
      }
    }
    const Column& column = relation.columns[*position];
    const ast::Node* value = target.val;
    if (const auto* multi = ast::try_as<ast::MultiAssignRef>(value)) {
      const auto* row = ast::try_as<ast::RowExpr>(multi->source);
      if (row == nullptr) {
        assignments.push_back(
            {*position, coerce_to_column(bind_multi_assignment(*multi, scope, further), column)});
        continue;
      }
      if (row->args.size() != static_cast<std::size_t>(multi->ncolumns)) {
        throw SqlError{sqlstate::syntax_error, "number of columns does not match number of values"}
            .at_position(row->location + 1);
      }
      value = row->args[static_cast<std::size_t>(multi->colno) - 1];
    }
    if (ast::is<ast::SetToDefault>(value)) {
      if (column.generated) continue;
      assignments.push_back({*position, default_of(*write.table, *position)});
      continue;
    }
    if (column.generated) {
      throw sql_error(kGeneratedAlways, "column \"{}\" can only be updated to DEFAULT", column.name)
          .with_detail(fmt::format("Column \"{}\" is a generated column.", column.name));
    }
    if (column.identity == 'a') {
      throw sql_error(kGeneratedAlways, "column \"{}\" can only be updated to DEFAULT", column.name)
          .with_detail(fmt::format(
              "Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name));
    }
    assignments.push_back({*position, coerce_to_column(bind_expression(value, scope), column)});
  }
  return assignments;
}

ExprPtr Binder::bind_multi_assignment(const ast::MultiAssignRef& multi, Scope& scope,
                                      std::vector<ScopeColumn>& further) {
  const auto* link = ast::try_as<ast::SubLink>(multi.source);
  if (link == nullptr || link->sub_link_type != ast::SubLinkType::expr_sublink) {
    throw SqlError{sqlstate::feature_not_supported,
                   "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() "
                   "expression"}
        .at_position(bind_expression(multi.source, scope)->location() + 1);
  }
  const auto number = static_cast<std::size_t>(multi.colno);
  if (number > 1) return slot_expr(further[number - 2]);
  std::unique_ptr<Query> query = bind_select(ast::as<ast::SelectStmt>(link->subselect), &scope);
  if (query->targets.size() != static_cast<std::size_t>(multi.ncolumns)) {
    throw SqlError{sqlstate::syntax_error, "number of columns does not match number of values"}
        .at_position(link->location + 1);
  }
  auto expr = std::make_unique<SubqueryExpr>(SubqueryExpr::Kind::scalar, query->targets[0].type,
                                             query->targets[0].typmod);
  further.clear();
  std::vector<Slot> slots;
  for (std::size_t i = 1; i < query->targets.size(); ++i) {
    ScopeColumn column;
    column.slot = new_slot();
    column.type = query->targets[i].type;
    column.typmod = query->targets[i].typmod;
    slots.push_back(column.slot);
    further.push_back(std::move(column));
  }
  expr->set_further_columns(std::move(slots));
  expr->set_location(link->location);
  expr->outer_slots = query->outer_slots;
  pending_.push_back({expr.get(), std::move(query), SubqueryExpr::Correlation::outer});
  return expr;
}

void Binder::bind_returning(WriteStatement& write, ast::NodeList list, Scope& scope) {
  if (list.empty()) return;
  const ClauseScope clause{scope, Clause::returning};
  bind_targets(list, scope, write.returning);
  finish_targets(write.returning, OutputTypes::final);
}

std::unique_ptr<WriteStatement> Binder::bind_update(const ast::UpdateStmt& update, Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::update;
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(update.with_clause, with_scope, write->eager);
  bind_write_target(*write, *update.relation, "update");
  write->new_first_slot = new_slots(write->table->relation.columns.size());

  Scope scope = table_scope(write->table, write->alias, write->first_slot);
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  for (const ast::Node* item : update.from_clause) {
    write->from.push_back(bind_from_item(item, scope));
  }
  write->assignments = bind_assignments(*write, update.target_list, scope);
  if (update.where_clause != nullptr) {
    const ClauseScope clause{scope, Clause::where};
    write->where.push_back(bind_condition(update.where_clause, scope, "WHERE"));
    write->recheck.push_back(bind_condition(update.where_clause, scope, "WHERE"));
  }
  bind_row_rules(*write, write->new_first_slot);
  bind_index_expressions(*write);
  // RETURNING sees the new row, and the other tables of FROM.
  Scope returning = table_scope(write->table, write->alias, write->new_first_slot);
  returning.parent = &with_scope;
  returning.outer_slots = &write->outer_slots;
  for (std::size_t i = 1; i < scope.items.size(); ++i) {
    returning.items.push_back(std::move(scope.items[i]));
  }
  bind_returning(*write, update.returning_list, returning);
  remove_repeats(write->outer_slots);
  return write;
}

std::unique_ptr<WriteStatement> Binder::bind_delete(const ast::DeleteStmt& statement,
                                                    Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::delete_;
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(statement.with_clause, with_scope, write->eager);
  bind_write_target(*write, *statement.relation, "delete from");
  Scope scope = table_scope(write->table, write->alias, write->first_slot);
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  for (const ast::Node* item : statement.using_clause) {
    write->from.push_back(bind_from_item(item, scope));
  }
  if (statement.where_clause != nullptr) {
    const ClauseScope clause{scope, Clause::where};
    write->where.push_back(bind_condition(statement.where_clause, scope, "WHERE"));
    write->recheck.push_back(bind_condition(statement.where_clause, scope, "WHERE"));
  }
  bind_index_expressions(*write);
  bind_returning(*write, statement.returning_list, scope);
  remove_repeats(write->outer_slots);
  return write;
}

}  // namespace swizzle::sql
