#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// ON CONFLICT.
namespace swizzle::sql {
namespace {

/// Throws unless the index is immediate: only a unique, immediate index can arbitrate.
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

/// Collects the operands of nested ANDs.
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
      if (index->excludes() && write.insert.conflict.kind == ConflictAction::Kind::update) {
        throw SqlError{sqlstate::wrong_object_type,
                       "ON CONFLICT DO UPDATE not supported with exclusion constraints"};
      }
      return index;
    }
  } else {
    const Slot first = new_slots(table.relation.columns.size());
    Scope scope = table_scope(write.table, write.alias, first);
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
      // A key WITHOUT OVERLAPS is found by its name only.
      if (!index.is_key() || !index.is_valid() || index.excludes() ||
          !answers_inference(write, index, first, wanted, where.get())) {
        continue;
      }
      require_immediate(names_, index, table);
      return &index;
    }
  }
  throw SqlError{sqlstate::invalid_column_reference,
                 "there is no unique or exclusion constraint matching the "
                 "ON CONFLICT specification"};
}

/// Returns true if the index is over exactly these columns and expressions, in any order, and has
/// all rows for which `where` is true.
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
  // The index has the rows that satisfy all of its conditions, so each of them must be among the
  // given ones.
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
  write.insert.conflict.kind = clause.action == ast::OnConflictAction::update
                                   ? ConflictAction::Kind::update
                                   : ConflictAction::Kind::nothing;
  if (clause.infer != nullptr) {
    write.insert.conflict.index = infer_index(write, *clause.infer);
    // ON CONFLICT reveals whether a row with this key exists, so it counts as a read of these
    // columns.
    std::vector<std::size_t>& read = noted_[write.access].access.read;
    for (const IndexColumn& column : write.insert.conflict.index->columns) {
      if (column.column != 0) read.push_back(static_cast<std::size_t>(column.column - 1));
    }
  } else if (write.insert.conflict.kind == ConflictAction::Kind::nothing) {
    for (const Index& index : write.table->relation.indexes) {
      require_immediate(names_, index, *write.table);
    }
  } else if (write.insert.conflict.kind == ConflictAction::Kind::update) {
    throw SqlError{sqlstate::syntax_error,
                   "ON CONFLICT DO UPDATE requires inference specification or constraint name"}
        .with_hint("For example, ON CONFLICT (column_name).")
        .at_position(clause.location + 1);
  }
  if (write.insert.conflict.kind != ConflictAction::Kind::update) return;
  write.insert.conflict.existing_first_slot = new_slots(row_slots(*write.table));
  Scope scope = table_scope(write.table, write.alias, write.insert.conflict.existing_first_slot);
  ++relations_named_;
  Scope excluded = table_scope(write.table, "excluded", write.first_slot);
  scope.items.push_back(std::move(excluded.items[0]));
  scope.parent = &with_scope;
  scope.outer_slots = &write.outer_slots;
  write.assignments = bind_assignments(write, clause.target_list, scope);
  if (clause.where_clause != nullptr) {
    const ClauseScope in_where{scope, Clause::where};
    write.insert.conflict_where.push_back(bind_condition(clause.where_clause, scope, "WHERE"));
  }
  noted_[write.access].access.wants |= privilege::kUpdate;
  note_columns(write, write.assignments);
  // EXCLUDED has the table's columns, so the row proposed for insertion counts as read as well.
  for (const Slot row : {write.insert.conflict.existing_first_slot, write.first_slot}) {
    for (const Assignment& assignment : write.assignments) {
      note_reads(write, *assignment.expr, row);
    }
    for (const ExprPtr& condition : write.insert.conflict_where) note_reads(write, *condition, row);
  }
}

}  // namespace swizzle::sql
