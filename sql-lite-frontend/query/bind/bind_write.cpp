#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

Privileges privileges_for(const WriteStatement& write) {
  // INSERT … ON CONFLICT is not known to update yet.
  const RowChanges changes = write.changes();
  Privileges wants{};
  if (changes.inserts) wants |= privilege::kInsert;
  if (changes.updates) wants |= privilege::kUpdate;
  if (changes.removes) wants |= privilege::kDelete;
  const bool has_idle_action =
      write.merge && std::ranges::any_of(write.merge->actions, [](const MergeAction& action) {
        return action.does == MergeAction::Does::nothing;
      });
  if (has_idle_action) wants |= privilege::kSelect;
  return wants;
}

[[noreturn]] void refuse_merge(const Relation& relation, std::string_view kinds) {
  throw sql_error(sqlstate::feature_not_supported, "cannot execute MERGE on relation \"{}\"",
                  relation.name)
      .with_detail(fmt::format("This operation is not supported for {}.", kinds));
}

}  // namespace

void Binder::bind_write_target(WriteStatement& write, const ast::RangeVar& range) {
  ++relations_named_;
  write.table = require_table(range);
  note_name(range, *write.table);
  depend_on(write.table);
  const Relation& relation = write.table->relation;
  switch (relation.kind) {
    case RelationKind::table:
    case RelationKind::partitioned:
      break;
    case RelationKind::view:
      bind_view_target(write);
      break;
    case RelationKind::materialized:
      if (write.merge) refuse_merge(relation, "materialized views");
      if (names_.refreshes(*write.table)) break;
      throw sql_error(sqlstate::wrong_object_type, "cannot change materialized view \"{}\"",
                      relation.name);
    case RelationKind::sequence:
      if (write.merge) refuse_merge(relation, "sequences");
      throw sql_error(sqlstate::wrong_object_type, "cannot change sequence \"{}\"", relation.name);
    case RelationKind::computed:
      throw sql_error(SqlState{"42501"}, "permission denied: \"{}\" is a system catalog",
                      relation.name);
  }
  written_.push_back(write.table);
  depend_on_foreign_keys(*write.table);
  const bool is_partitioned = write.table->relation.is_partitioned();
  // INSERT writes to the named table alone, unless that is partitioned.
  if (is_partitioned || write.kind != WriteKind::insert) {
    // ONLY before a view's name means nothing, and to INSERT within one.
    const bool only = write.view.target ? write.view.target->only : !range.inh;
    write.partitions.tree =
        partitions_of(write.table, only && !(is_partitioned && write.changes().inserts));
    if (write.merge) write.merge->read_partitions = partitions_of(write.table, only);
  }
  if (write.partitions.tree) {
    for (const PartitionTree::Node& node : write.partitions.tree->nodes)
      written_.push_back(node.table);
  }
  write.alias = range.alias != nullptr ? std::string{range.alias->aliasname} : relation.name;
  write.first_slot = new_slots(row_slots(*write.table));
  if (write.view.instead && write.kind != WriteKind::insert) {
    Scope rows;
    write.view.rows = bind_view(write.table, range, rows);
    for (const ScopeColumn& column : rows.items.back().columns) {
      mark_used(column.slot);
      write.view.slots.push_back(column.slot);
    }
  }
  // Of a row that is written anew, only what RETURNING reads has been read.
  const bool reads = write.kind != WriteKind::insert;
  if (write.view.target) {
    write.view.access = note_access(write.view.target->view, privileges_for(write), std::nullopt);
  }
  const Oid around = as_role_;
  if (write.view.target) {
    // From the view that is named down to the table.
    for (const ViewTarget::Level& level : std::views::reverse(write.view.target->levels)) {
      as_role_ = role_behind(*level.view);
    }
  }
  write.access = note_access(write.table, privileges_for(write),
                             reads ? std::optional{write.first_slot} : std::nullopt);
  if (write.view.target) {
    for (const ViewTargetColumn& column : write.view.target->columns) {
      if (column.position) noted_[write.access].shown.push_back(*column.position);
    }
  }
  as_role_ = around;
}

/// Of a column without a default of its own: its domain's, or NULL, which the domain may refuse.
ExprPtr Binder::type_default(const Column& column) {
  if (!is_domain(column.type)) return constant(column.type, Value::null());
  const TypePtr domain = names_.user_type(column.type);
  // ALTER DOMAIN may change it.
  looked_up_objects_ = true;
  depends_on_types_ = true;
  ExprPtr value = domain && !domain->default_sql.empty()
                      ? bind_stored_expression(domain->default_sql)
                      : constant(TypeId::unknown, Value::null());
  return coerce_to_column(std::move(value), column);
}

ExprPtr Binder::default_of(const Table& table, std::size_t position) {
  const Column& column = table.relation.columns[position];
  if (column.default_sql.empty()) return type_default(column);
  ExprPtr expr = bind_table_expression(column.default_sql, table, 0, Clause::column_default);
  add_new_attributes(*expr, column.type);
  if (column.identity != 0) {
    // The right to write the column includes the right to its numbers.
    walk(*expr, [this](Expr& part) {
      if (auto* call = dynamic_cast<SessionFunctionExpr*>(&part)) {
        call->call_instead(names_.identity_numbers());
      }
    });
  }
  return coerce_to_column(std::move(expr), column);
}

/// Returns the default of a column without a value: of the view that is written, or of the nearest
/// below it that has one, or the table's own.
ExprPtr Binder::default_of(const WriteStatement& write, std::size_t position) {
  if (const Column* column = view_default_of(write, position)) {
    const Column& stored = write.table->relation.columns[position];
    ExprPtr expr =
        bind_table_expression(column->default_sql, *write.table, 0, Clause::column_default);
    add_new_attributes(*expr, stored.type);
    return coerce_to_column(std::move(expr), stored);
  }
  return default_of(*write.table, position);
}

const Column* Binder::view_default_of(const WriteStatement& write, std::size_t position) {
  if (!write.view.target) return nullptr;
  const std::vector<ViewTarget::Level>& levels = write.view.target->levels;
  for (std::size_t i = levels.size(); i-- > 0;) {
    const auto& shown = i + 1 < levels.size() ? levels[i + 1].from : write.view.target->columns;
    const auto& columns = levels[i].view->relation.columns;
    for (std::size_t j = 0; j < shown.size() && j < columns.size(); ++j) {
      if (shown[j].position == position && !columns[j].default_sql.empty()) return &columns[j];
    }
  }
  return nullptr;
}

/// CHECK constraints and stored generated columns, over the new row in `row`.
void Binder::bind_row_rules(WriteStatement& write, Slot row) {
  const Relation& relation = write.table->relation;
  // Those of a partitioned table, or of one with heirs, are the leaves'.
  if (relation.is_partition() && !write.partitions.shown_as) bind_bounds(write, row);
  if (write.partitions.tree) return;
  for (const Constraint& constraint : relation.constraints) {
    if (constraint.kind != ConstraintKind::check || !constraint.enforced) continue;
    write.checks.constraints.push_back(
        {bind_table_expression(constraint.check_sql, *write.table, row, Clause::check),
         constraint.name});
  }
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || !column.generated) continue;
    if (column.is_virtual && !column.not_null) continue;
    ExprPtr expr = bind_table_expression(column.default_sql, *write.table, row, Clause::generated);
    auto& list = column.is_virtual ? write.needed_virtual : write.generated;
    list.push_back({i, coerce_to_column(std::move(expr), column)});
  }
}

void Binder::bind_changed_rows(WriteStatement& write) {
  restrict_to_view_rows(write);
  bind_row_rules(write, write.new_first_slot);
  note_key_columns(write);
  add_view_checks(write, write.new_first_slot);
  bind_index_expressions(write);
  bind_triggers(write);
  bind_partition_writes(write);
}

void Binder::bind_index_expressions(WriteStatement& write) {
  const Relation& relation = write.table->relation;
  if (write.partitions.tree) return;
  const bool any = std::ranges::any_of(relation.indexes, [](const Index& index) {
    return !index.predicate_sql.empty() ||
           std::ranges::any_of(index.columns,
                               [](const IndexColumn& column) { return column.column == 0; });
  });
  if (!any) return;
  write.indexes.first_slot = new_slots(relation.columns.size());
  for (const Index& index : relation.indexes) {
    WrittenIndexes::Expressions expressions;
    for (const IndexColumn& column : index.columns) {
      expressions.columns.push_back(column.column != 0
                                        ? nullptr
                                        : bind_table_expression(column.expression_sql, *write.table,
                                                                write.indexes.first_slot,
                                                                Clause::index_expression));
    }
    if (!index.predicate_sql.empty()) {
      expressions.predicate = bind_table_expression(
          index.predicate_sql, *write.table, write.indexes.first_slot, Clause::index_predicate);
    }
    write.indexes.expressions.push_back(std::move(expressions));
  }
}

void Binder::note_key_columns(WriteStatement& write) {
  const auto is_key = [&](std::size_t position) {
    return std::ranges::any_of(write.table->relation.indexes, [&](const Index& index) {
      return index.is_immediate_key() && index.predicate_sql.empty() &&
             std::ranges::any_of(index.columns, [&](const IndexColumn& column) {
               return column.column == static_cast<std::int16_t>(position + 1);
             });
    });
  };
  for (const auto* list : {&write.assignments, &write.generated}) {
    for (const Assignment& assignment : *list) {
      if (is_key(assignment.position)) write.assigned_key_columns.push_back(assignment.position);
    }
  }
}

namespace {

bool is_star(const ast::Node* node) {
  const auto* column = ast::try_as<ast::ColumnRef>(node);
  return column != nullptr && ast::is<ast::A_Star>(column->fields.back());
}
bool has_star(const ast::RowExpr& row) {
  return std::ranges::any_of(row.args, is_star);
}

}  // namespace

ExprPtr Binder::bind_expanded_field(const ast::MultiAssignRef& multi, const ast::RowExpr& row,
                                    Scope& scope) {
  std::vector<OutputTarget> fields;
  for (const ast::Node* arg : row.args) {
    if (is_star(arg)) {
      expand_star(ast::as<ast::ColumnRef>(arg), scope, fields);
    } else if (ast::is<ast::SetToDefault>(arg)) {
      unsupported("DEFAULT beside * in a row that is assigned", row.location);
    } else {
      OutputTarget field;
      field.expr = bind_expression(arg, scope);
      fields.push_back(std::move(field));
    }
  }
  if (fields.size() != static_cast<std::size_t>(multi.ncolumns)) {
    throw SqlError{sqlstate::syntax_error, "number of columns does not match number of values"}
        .at_position(row.location + 1);
  }
  return std::move(fields[static_cast<std::size_t>(multi.colno) - 1].expr);
}

/// Binds the assigned values, before their conversion to the columns' types; null for DEFAULT and
/// for a column of a subquery.
std::vector<ExprPtr> Binder::bind_assigned(ast::NodeList targets, Scope& scope) {
  std::vector<ExprPtr> values;
  for (const ast::Node* node : targets) {
    const ast::Node* value = ast::as<ast::ResTarget>(node).val;
    if (const auto* multi = ast::try_as<ast::MultiAssignRef>(value)) {
      const auto* row = ast::try_as<ast::RowExpr>(multi->source);
      const auto place = static_cast<std::size_t>(multi->colno) - 1;
      if (row != nullptr && has_star(*row)) {
        values.push_back(bind_expanded_field(*multi, *row, scope));
        continue;
      }
      value = row != nullptr && place < row->args.size() ? row->args[place] : nullptr;
    }
    const bool is_bound = value != nullptr && !ast::is<ast::SetToDefault>(value);
    values.push_back(is_bound ? bind_expression(value, scope) : nullptr);
  }
  return values;
}

std::vector<Assignment> Binder::bind_assignments(const WriteStatement& write, ast::NodeList targets,
                                                 Scope& scope) {
  const Relation& relation = write.table->relation;
  std::vector<Assignment> assignments;
  std::vector<ScopeColumn> further;
  const ClauseScope clause{scope, Clause::update_set};
  const Slot old_first_slot = write.kind == WriteKind::insert
                                  ? write.insert.conflict.existing_first_slot
                                  : write.first_slot;
  std::vector<ExprPtr> values = bind_assigned(targets, scope);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& target = ast::as<ast::ResTarget>(targets[i]);
    const auto position = target_position(write, target.name);
    if (!position) {
      const bool has_rows = !write.view.target && !write.view.instead;
      if (has_rows && (is_system_column_of_row(target.name) || target.name == "tableoid")) {
        throw sql_error(sqlstate::feature_not_supported, "cannot assign to system column \"{}\"",
                        target.name)
            .at_position(target.location + 1);
      }
      SqlError error =
          sql_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                    target.name,
                    write.view.target ? write.view.target->view->relation.name : relation.name)
              .at_position(target.location + 1);
      if (target.indirection.empty() || target.name != write.alias) throw error;
      throw std::move(error).with_hint(
          "SET target columns cannot be qualified with the relation name.");
    }
    const bool is_part = !target.indirection.empty();
    for (const ast::Node* earlier : targets.first(write.view.target ? i : 0)) {
      const std::string_view name = ast::as<ast::ResTarget>(earlier).name;
      if (name == target.name || target_position(write, name) != position) continue;
      refuse_second_assignment(relation.columns[*position].name);
    }
    ExprPtr whole = take_earlier_parts(assignments, *position, target);
    const Column& column = relation.columns[*position];
    const auto assign = [&](ExprPtr expr) {
      if (!is_part) {
        assignments.push_back({*position, coerce_to_column(std::move(expr), column)});
        return;
      }
      if (!whole) whole = old_value(scope, old_first_slot + static_cast<Slot>(*position));
      assignments.push_back(
          {*position, part_assignment(std::move(whole), std::move(expr), target, column, scope)});
    };
    const ast::Node* value = target.val;
    if (const auto* multi = ast::try_as<ast::MultiAssignRef>(value)) {
      const auto* row = ast::try_as<ast::RowExpr>(multi->source);
      if (row == nullptr) {
        assign(bind_multi_assignment(*multi, scope, further));
        continue;
      }
      if (!has_star(*row)) {
        if (row->args.size() != static_cast<std::size_t>(multi->ncolumns)) {
          throw SqlError{sqlstate::syntax_error,
                         "number of columns does not match number of values"}
              .at_position(row->location + 1);
        }
        value = row->args[static_cast<std::size_t>(multi->colno) - 1];
      }
    }
    if (ast::is<ast::SetToDefault>(value)) {
      refuse_default_part(target);
      if (column.generated) continue;
      assignments.push_back({*position, default_of(write, *position)});
      continue;
    }
    if (column.generated) {
      throw sql_error(sqlstate::generated_always, "column \"{}\" can only be updated to DEFAULT",
                      column.name)
          .with_detail(fmt::format("Column \"{}\" is a generated column.", column.name));
    }
    if (column.identity == 'a') {
      throw sql_error(sqlstate::generated_always, "column \"{}\" can only be updated to DEFAULT",
                      column.name)
          .with_detail(fmt::format(
              "Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name));
    }
    assign(std::move(values[i]));
  }
  return assignments;
}

/// The value that the target's column has before the statement.
ExprPtr Binder::old_value(const Scope& scope, Slot slot) {
  const auto& columns = scope.items[0].columns;
  const auto at = std::ranges::find(columns, slot, &ScopeColumn::slot);
  STATEMENT_INVARIANT(at != columns.end());
  return slot_expr(*at);
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
  plan_later(*expr, std::move(query), SubqueryExpr::Correlation::outer);
  return expr;
}

/// A variable of type refcursor that the name means.
std::optional<std::size_t> Binder::cursor_variable(std::string_view name) {
  BodyVariables* const variables = body_variables();
  if (variables == nullptr) return std::nullopt;
  const auto meaning = variables->find({&name, 1}, false);
  if (!meaning || meaning->is_row || meaning->fields[0].type != TypeId::refcursor) {
    return std::nullopt;
  }
  return meaning->fields[0].parameter;
}

void Binder::bind_write_condition(WriteStatement& write, const ast::Node* where, Scope& scope) {
  if (where == nullptr) return;
  if (const auto* current = ast::try_as<ast::CurrentOfExpr>(where)) {
    if (write.view.target || write.view.instead) unsupported("WHERE CURRENT OF on a view");
    if (!write.rows.from.empty()) unsupported("WHERE CURRENT OF beside other tables");
    if (write.partitions.tree) {
      unsupported(write.partitions.tree->is_of_heirs() ? "WHERE CURRENT OF on a table with children"
                                                       : "WHERE CURRENT OF on a partitioned table");
    }
    write.rows.current_of = current->cursor_name;
    write.rows.current_of_parameter = cursor_variable(current->cursor_name);
    return;
  }
  const ClauseScope clause{scope, Clause::where};
  write.rows.where.push_back(bind_condition(where, scope, "WHERE"));
  write.rows.recheck.push_back(bind_condition(where, scope, "WHERE"));
}

std::unique_ptr<WriteStatement> Binder::bind_update(const ast::UpdateStmt& update, Scope* parent) {
  auto write = std::make_unique<WriteStatement>();
  write->kind = WriteKind::update;
  Scope with_scope;
  with_scope.parent = parent;
  with_scope.outer_slots = &write->outer_slots;
  bind_with(update.with_clause, with_scope, write->eager);
  bind_write_target(*write, *update.relation);
  write->new_first_slot = new_slots(row_slots(*write->table));

  Scope scope = write_scope(*write, write->first_slot);
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  for (const ast::Node* item : update.from_clause) {
    write->rows.from.push_back(bind_from_item(item, scope));
  }
  // In this order, because the first use of a parameter tells its type.
  bind_write_condition(*write, update.where_clause, scope);
  write->assignments = bind_assignments(*write, update.target_list, scope);
  note_columns(*write, write->assignments);
  bind_changed_rows(*write);
  // RETURNING sees the new row, and the other tables of FROM.
  Scope returning = write_scope(*write, write->new_first_slot);
  if (returning.items[0].row_id_slot) {
    returning.items[0].row_id_slot = row_id_slot(*write->table, write->first_slot);
  }
  returning.parent = &with_scope;
  returning.outer_slots = &write->outer_slots;
  for (std::size_t i = 1; i < scope.items.size(); ++i) {
    returning.items.push_back(std::move(scope.items[i]));
  }
  bind_returning(*write, update.returning_clause, returning,
                 {write->new_first_slot, write->first_slot, write->new_first_slot});
  secure_write(*write);
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
  bind_write_target(*write, *statement.relation);
  Scope scope = write_scope(*write, write->first_slot);
  scope.parent = &with_scope;
  scope.outer_slots = &write->outer_slots;
  for (const ast::Node* item : statement.using_clause) {
    write->rows.from.push_back(bind_from_item(item, scope));
  }
  bind_write_condition(*write, statement.where_clause, scope);
  restrict_to_view_rows(*write);
  bind_index_expressions(*write);
  bind_triggers(*write);
  bind_partition_writes(*write);
  scope.items[0].is_ended = true;
  bind_returning(*write, statement.returning_clause, scope,
                 {write->first_slot, write->first_slot, std::nullopt});
  secure_write(*write);
  remove_repeats(write->outer_slots);
  return write;
}

}  // namespace swizzle::sql
