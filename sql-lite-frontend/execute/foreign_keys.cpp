#include "sql-lite-frontend/execute/foreign_keys.h"

#include <algorithm>

#include "sql-lite-frontend/execute/constraint_check.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
ForeignKeys::ForeignKeys(NameSource& names, const TablePtr& table) : table_(table) {
  for (const Constraint& constraint : table->relation.constraints) {
    if (constraint.kind != ConstraintKind::foreign_key) continue;
    const TablePtr referenced = names.table(constraint.referenced_table);
    if (!referenced) continue;
    ForeignKey key{table, referenced, constraint};
    std::string lock_referenced_sql = key.lock_referenced_sql(names);
    outgoing_.push_back({std::move(key), std::move(lock_referenced_sql)});
  }
  for (const TablePtr& referencing : names.referencing_tables(table->relation.oid)) {
    for (const Constraint& constraint : referencing->relation.constraints) {
      if (constraint.kind != ConstraintKind::foreign_key ||
          constraint.referenced_table != table->relation.oid) {
        continue;
      }
      const ForeignKey key{referencing, table, constraint};
      incoming_.push_back(
          {key, key.still_there_sql(names), key.any_reference_sql(names),
           key.delete_references_sql(names), key.update_references_sql(names),
           key.clear_references_sql(
               names, constraint.set_columns.empty() ? constraint.columns : constraint.set_columns,
               constraint.on_delete),
           key.clear_references_sql(names, constraint.columns, constraint.on_update)});
    }
  }
}

void ForeignKeys::begin() {
  notes_.clear();
  arena_.reset();
}

void ForeignKeys::inserted(std::span<const Value> row) {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const Constraint& constraint = outgoing_[i].key.constraint();
    std::vector<Value> values = kept(arena_, row, constraint.columns);
    // MATCH SIMPLE: a NULL anywhere refers to nothing. FULL allows only all or none.
    if (any_null(values) && constraint.match == 's') continue;
    const bool all_null = std::ranges::all_of(values, [](const Value& v) { return v.is_null(); });
    if (all_null) continue;
    notes_.push_back({Note::Kind::reference, i, {}, std::move(values)});
  }
}

void ForeignKeys::updated(std::span<const Value> old_row, std::span<const Value> new_row) {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const ForeignKey& key = outgoing_[i].key;
    std::vector<Value> before = kept(arena_, old_row, key.constraint().columns);
    std::vector<Value> after = kept(arena_, new_row, key.constraint().columns);
    if (same_values(key.referencing_types(), before, after)) continue;
    if (any_null(after) && key.constraint().match == 's') continue;
    if (std::ranges::all_of(after, [](const Value& v) { return v.is_null(); })) continue;
    notes_.push_back({Note::Kind::reference, i, {}, std::move(after)});
  }
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    const ForeignKey& key = incoming_[i].key;
    std::vector<Value> before = kept(arena_, old_row, key.constraint().referenced_columns);
    if (any_null(before)) continue;
    std::vector<Value> after = kept(arena_, new_row, key.constraint().referenced_columns);
    if (same_values(key.referenced_types(), before, after)) continue;
    notes_.push_back({Note::Kind::changed, i, std::move(before), std::move(after)});
  }
}

void ForeignKeys::removed(std::span<const Value> row) {
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    std::vector<Value> before = kept(arena_, row, incoming_[i].key.constraint().referenced_columns);
    if (!any_null(before)) notes_.push_back({Note::Kind::removed, i, std::move(before), {}});
  }
}

void ForeignKeys::check_reference(Execution& execution, const Note& note) {
  const auto& [key, lock_referenced_sql] = outgoing_[note.key];
  const auto fail = [&] {
    throw_diagnostic(key.missing(execution.session, execution.functions, note.new_values));
  };
  if (any_null(note.new_values)) fail();
  if (is_deferred(execution.session, key.constraint())) {
    defer_check(execution.session, {DeferredCheck::Kind::refers, key.constraint().oid,
                                    table_->relation.oid, note.new_values});
    return;
  }
  // At REPEATABLE READ a row cannot refer to one that its transaction does not see.
  if (run_internal(execution.session, lock_referenced_sql, key.referencing_types(), note.new_values,
                   ReadView::Sees::durable) == 0) {
    fail();
  }
}

void ForeignKeys::check_unreferenced(Execution& execution, const Note& note) {
  const Constraint& constraint = incoming_[note.key].key.constraint();
  // NO ACTION looks at the end: another row may have taken the key's place.
  const ReferentialAction action =
      note.kind == Note::Kind::removed ? constraint.on_delete : constraint.on_update;
  if (action != ReferentialAction::no_action) return require_unreferenced(execution, note);
  if (is_deferred(execution.session, constraint)) {
    defer_check(execution.session, {DeferredCheck::Kind::given_up, constraint.oid,
                                    table_->relation.oid, note.old_values});
    return;
  }
  require_gone(execution, note);
}

/// Nobody refers to the old key any more, or a new row has it.
void ForeignKeys::require_gone(Execution& execution, const Note& note) {
  const Incoming& incoming = incoming_[note.key];
  if (run_internal(execution.session, incoming.still_there_sql, incoming.key.referenced_types(),
                   note.old_values) > 0) {
    return;
  }
  require_unreferenced(execution, note);
}

void ForeignKeys::require_unreferenced(Execution& execution, const Note& note) {
  const Incoming& incoming = incoming_[note.key];
  if (run_internal(execution.session, incoming.any_sql, incoming.key.referenced_types(),
                   note.old_values) > 0) {
    throw_diagnostic(
        incoming.key.still_referenced(execution.session, execution.functions, note.old_values));
  }
}

void ForeignKeys::act(Execution& execution, const Note& note) {
  const Incoming& incoming = incoming_[note.key];
  const std::vector<TypeId>& key_types = incoming.key.referenced_types();
  const bool removed = note.kind == Note::Kind::removed;
  const Constraint& constraint = incoming.key.constraint();
  const ReferentialAction action = removed ? constraint.on_delete : constraint.on_update;
  switch (action) {
    case ReferentialAction::no_action:
    case ReferentialAction::restrict_:
      check_unreferenced(execution, note);
      return;
    case ReferentialAction::cascade: {
      if (removed) {
        run_internal(execution.session, incoming.delete_sql, key_types, note.old_values);
        return;
      }
      std::vector<TypeId> types = key_types;
      types.insert(types.end(), key_types.begin(), key_types.end());
      std::vector<Value> values = note.old_values;
      values.insert(values.end(), note.new_values.begin(), note.new_values.end());
      run_internal(execution.session, incoming.update_sql, types, values);
      return;
    }
    case ReferentialAction::set_null:
    case ReferentialAction::set_default:
      run_internal(execution.session,
                   removed ? incoming.clear_on_delete_sql : incoming.clear_on_update_sql, key_types,
                   note.old_values);
      // Rows whose default is the old key still refer to it.
      if (action == ReferentialAction::set_default) require_gone(execution, note);
      return;
  }
}

void ForeignKeys::finish(Execution& execution) {
  if (notes_.empty()) return;
  for (const Note& note : notes_) {
    if (note.kind != Note::Kind::reference) act(execution, note);
  }
  for (const Note& note : notes_) {
    if (note.kind == Note::Kind::reference) check_reference(execution, note);
  }
  notes_.clear();
}

namespace {

const Constraint* constraint_of(const Table& table, Oid oid) {
  const auto found = std::ranges::find(table.relation.constraints, oid, &Constraint::oid);
  return found == table.relation.constraints.end() ? nullptr : &*found;
}

}  // namespace

void check_deferred_reference(Session::State& session, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check) {
  const Constraint* constraint = constraint_of(*table, check.constraint);
  if (constraint == nullptr) return;
  const TablePtr referenced = names.table(constraint->referenced_table);
  if (!referenced) return;
  const ForeignKey key{table, referenced, *constraint};
  const auto finds = [&](const std::string& sql, ReadView::Sees sees) {
    return run_internal(session, sql, key.referencing_types(), check.values, sees) > 0;
  };
  if (finds(key.lock_referenced_sql(names), ReadView::Sees::durable) ||
      !finds(key.still_refers_sql(names), ReadView::Sees::latest)) {
    return;
  }
  Arena arena;
  FunctionContext functions{arena, names.context(), {}};
  throw_diagnostic(key.missing(session, functions, check.values));
}

void check_deferred_removal(Session::State& session, NameSource& names, const TablePtr& table,
                            const DeferredCheck& check) {
  for (const TablePtr& referencing : names.referencing_tables(table->relation.oid)) {
    const Constraint* constraint = constraint_of(*referencing, check.constraint);
    if (constraint == nullptr) continue;
    const ForeignKey key{referencing, table, *constraint};
    const auto finds = [&](const std::string& sql) {
      return run_internal(session, sql, key.referenced_types(), check.values) > 0;
    };
    if (!finds(key.any_reference_sql(names)) || finds(key.still_there_sql(names))) return;
    Arena arena;
    FunctionContext functions{arena, names.context(), {}};
    throw_diagnostic(key.still_referenced(session, functions, check.values));
  }
}

}  // namespace swizzle::sql
