#include "sql-lite-frontend/execute/foreign_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execute/constraint_check.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

/// "a = NULL, b = NULL", or DEFAULT
std::string cleared(const Table& table, std::span<const std::int16_t> columns,
                    ReferentialAction action) {
  std::string text;
  for (const std::int16_t column : columns) {
    if (!text.empty()) text += ", ";
    text += column_name(table, column);
    text += action == ReferentialAction::set_default ? " = DEFAULT" : " = NULL";
  }
  return text;
}

}  // namespace

ForeignKeys::ForeignKeys(NameSource& names, const TablePtr& table) : table_(table) {
  for (const Constraint& constraint : table->relation.constraints) {
    if (constraint.kind != ConstraintKind::foreign_key) continue;
    const TablePtr referenced = names.table(constraint.referenced_table);
    if (!referenced) continue;
    outgoing_.push_back({&constraint, referenced,
                         types_of(*referenced, constraint.referenced_columns),
                         fmt::format("SELECT 1 FROM {} x WHERE {} FOR KEY SHARE OF x",
                                     table_name(names, *referenced),
                                     equal_all(*referenced, constraint.referenced_columns)),
                         fmt::format("SELECT 1 FROM {} WHERE {} LIMIT 1", table_name(names, *table),
                                     equal_all(*table, constraint.columns))});
  }
  for (const TablePtr& referencing : names.referencing_tables(table->relation.oid)) {
    for (const Constraint& constraint : referencing->relation.constraints) {
      if (constraint.kind != ConstraintKind::foreign_key ||
          constraint.referenced_table != table->relation.oid) {
        continue;
      }
      Incoming key{&constraint, referencing, types_of(*table, constraint.referenced_columns),
                   {},          {},          {},
                   {},          {},          {}};
      const std::string child = table_name(names, *referencing);
      const std::string where = equal_all(*referencing, constraint.columns);
      key.still_there_sql = fmt::format("SELECT 1 FROM {} WHERE {}", table_name(names, *table),
                                        equal_all(*table, constraint.referenced_columns));
      // Whoever is about to take such a row away is waited for.
      key.any_sql =
          fmt::format("SELECT 1 FROM {} x WHERE {} LIMIT 1 FOR KEY SHARE OF x", child, where);
      key.delete_sql = fmt::format("DELETE FROM {} WHERE {}", child, where);
      std::string assignments;
      for (std::size_t i = 0; i < constraint.columns.size(); ++i) {
        if (i > 0) assignments += ", ";
        assignments += fmt::format("{} = ${}", column_name(*referencing, constraint.columns[i]),
                                   constraint.columns.size() + i + 1);
      }
      key.update_sql = fmt::format("UPDATE {} SET {} WHERE {}", child, assignments, where);
      const auto clearing = [&](std::span<const std::int16_t> columns, ReferentialAction action) {
        return fmt::format("UPDATE {} SET {} WHERE {}", child,
                           cleared(*referencing, columns, action), where);
      };
      key.clear_on_delete_sql =
          clearing(constraint.set_columns.empty() ? constraint.columns : constraint.set_columns,
                   constraint.on_delete);
      key.clear_on_update_sql = clearing(constraint.columns, constraint.on_update);
      incoming_.push_back(std::move(key));
    }
  }
}

void ForeignKeys::begin() {
  notes_.clear();
  arena_.reset();
}

void ForeignKeys::inserted(std::span<const Value> row) {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    std::vector<Value> values = kept(arena_, row, outgoing_[i].constraint->columns);
    // MATCH SIMPLE: a NULL anywhere refers to nothing. FULL allows only all or none.
    if (any_null(values) && outgoing_[i].constraint->match == 's') continue;
    const bool all_null = std::ranges::all_of(values, [](const Value& v) { return v.is_null(); });
    if (all_null) continue;
    notes_.push_back({Note::Kind::reference, i, {}, std::move(values)});
  }
}

void ForeignKeys::updated(std::span<const Value> old_row, std::span<const Value> new_row) {
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const auto& columns = outgoing_[i].constraint->columns;
    std::vector<Value> before = kept(arena_, old_row, columns);
    std::vector<Value> after = kept(arena_, new_row, columns);
    if (same_values(types_of(*table_, columns), before, after)) continue;
    if (any_null(after) && outgoing_[i].constraint->match == 's') continue;
    if (std::ranges::all_of(after, [](const Value& v) { return v.is_null(); })) continue;
    notes_.push_back({Note::Kind::reference, i, {}, std::move(after)});
  }
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    const auto& columns = incoming_[i].constraint->referenced_columns;
    std::vector<Value> before = kept(arena_, old_row, columns);
    if (any_null(before)) continue;
    std::vector<Value> after = kept(arena_, new_row, columns);
    if (same_values(incoming_[i].types, before, after)) continue;
    notes_.push_back({Note::Kind::changed, i, std::move(before), std::move(after)});
  }
}

void ForeignKeys::removed(std::span<const Value> row) {
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    std::vector<Value> before = kept(arena_, row, incoming_[i].constraint->referenced_columns);
    if (!any_null(before)) notes_.push_back({Note::Kind::removed, i, std::move(before), {}});
  }
}

namespace {

std::string tuple(Execution& execution, const Table& table, std::span<const std::int16_t> columns,
                  std::span<const TypeId> types, std::span<const Value> values) {
  std::string names;
  std::string texts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) {
      names += ", ";
      texts += ", ";
    }
    names += table.relation.columns[static_cast<std::size_t>(columns[i] - 1)].name;
    texts += values[i].is_null() ? "null" : to_text(execution.functions, types[i], values[i]);
  }
  return fmt::format("({})=({})", names, texts);
}

}  // namespace

/// "(a)=(1) ", or nothing for who may not read the columns.
std::string ForeignKeys::shown_key(Execution& execution, std::span<const std::int16_t> columns,
                                   std::span<const TypeId> types,
                                   std::span<const Value> values) const {
  if (!may_read(execution.session, table_, columns)) return {};
  return tuple(execution, *table_, columns, types, values) + " ";
}

Diagnostic ForeignKeys::missing(Execution& execution, const Note& note) const {
  const Outgoing& key = outgoing_[note.key];
  Diagnostic diagnostic;
  diagnostic.state = sqlstate::foreign_key_violation;
  diagnostic.message =
      fmt::format("insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                  table_->relation.name, key.constraint->name);
  diagnostic.detail =
      any_null(note.new_values)
          ? "MATCH FULL does not allow mixing of null and nonnull key values."
          : fmt::format("Key {}is not present in table \"{}\".",
                        shown_key(execution, key.constraint->columns, key.types, note.new_values),
                        key.referenced->relation.name);
  diagnostic.schema = schema_name(execution.session, table_->relation.schema);
  diagnostic.table = table_->relation.name;
  diagnostic.constraint = key.constraint->name;
  return diagnostic;
}

Diagnostic ForeignKeys::referenced(Execution& execution, const Note& note) const {
  const Incoming& key = incoming_[note.key];
  Diagnostic diagnostic;
  diagnostic.state = sqlstate::foreign_key_violation;
  diagnostic.message = fmt::format(
      "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
      table_->relation.name, key.constraint->name, key.referencing->relation.name);
  diagnostic.detail = fmt::format(
      "Key {}is still referenced from table \"{}\".",
      shown_key(execution, key.constraint->referenced_columns, key.types, note.old_values),
      key.referencing->relation.name);
  diagnostic.schema = schema_name(execution.session, key.referencing->relation.schema);
  diagnostic.table = key.referencing->relation.name;
  diagnostic.constraint = key.constraint->name;
  return diagnostic;
}

void ForeignKeys::check_reference(Execution& execution, const Note& note) {
  const Outgoing& key = outgoing_[note.key];
  if (any_null(note.new_values)) throw_diagnostic(missing(execution, note));
  if (is_deferred(execution.session, *key.constraint)) {
    defer_check(
        execution.session,
        deferred_check(execution, *key.constraint, *table_,
                       {key.exists_sql, DeferredCheck::Gives::rows, ReadView::Sees::durable},
                       {key.refers_sql, DeferredCheck::Gives::rows}, key.types, note.new_values,
                       missing(execution, note)));
    return;
  }
  // At REPEATABLE READ a row cannot refer to one that its transaction does not see.
  if (run_internal(execution.session, key.exists_sql, key.types, note.new_values,
                   ReadView::Sees::durable) == 0) {
    throw_diagnostic(missing(execution, note));
  }
}

void ForeignKeys::check_unreferenced(Execution& execution, const Note& note) {
  const Incoming& key = incoming_[note.key];
  // NO ACTION looks at the end: another row may have taken the key's place.
  const ReferentialAction action =
      note.kind == Note::Kind::removed ? key.constraint->on_delete : key.constraint->on_update;
  if (action == ReferentialAction::no_action) {
    if (is_deferred(execution.session, *key.constraint)) {
      defer_check(execution.session,
                  deferred_check(execution, *key.constraint, *table_,
                                 {key.any_sql, DeferredCheck::Gives::none},
                                 {key.still_there_sql, DeferredCheck::Gives::none}, key.types,
                                 note.old_values, referenced(execution, note)));
      return;
    }
    if (run_internal(execution.session, key.still_there_sql, key.types, note.old_values) > 0) {
      return;
    }
  }
  if (run_internal(execution.session, key.any_sql, key.types, note.old_values) > 0) {
    throw_diagnostic(referenced(execution, note));
  }
}

/// Nobody refers to the old key any more, or a new row has it.
void ForeignKeys::require_gone(Execution& execution, const Note& note) {
  const Incoming& key = incoming_[note.key];
  if (run_internal(execution.session, key.still_there_sql, key.types, note.old_values) > 0) return;
  if (run_internal(execution.session, key.any_sql, key.types, note.old_values) > 0) {
    throw_diagnostic(referenced(execution, note));
  }
}

void ForeignKeys::act(Execution& execution, const Note& note) {
  const Incoming& key = incoming_[note.key];
  const bool removed = note.kind == Note::Kind::removed;
  switch (removed ? key.constraint->on_delete : key.constraint->on_update) {
    case ReferentialAction::no_action:
    case ReferentialAction::restrict_:
      check_unreferenced(execution, note);
      return;
    case ReferentialAction::cascade: {
      if (removed) {
        run_internal(execution.session, key.delete_sql, key.types, note.old_values);
        return;
      }
      std::vector<TypeId> types = key.types;
      types.insert(types.end(), key.types.begin(), key.types.end());
      std::vector<Value> values = note.old_values;
      values.insert(values.end(), note.new_values.begin(), note.new_values.end());
      run_internal(execution.session, key.update_sql, types, values);
      return;
    }
    case ReferentialAction::set_null:
    case ReferentialAction::set_default:
      run_internal(execution.session, removed ? key.clear_on_delete_sql : key.clear_on_update_sql,
                   key.types, note.old_values);
      // Rows whose default is the old key still refer to it.
      if ((removed ? key.constraint->on_delete : key.constraint->on_update) ==
          ReferentialAction::set_default) {
        require_gone(execution, note);
      }
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

}  // namespace swizzle::sql
