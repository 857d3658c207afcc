#include "sql-lite-frontend/execute/deferrable_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execute/constraint_check.h"
#include "sql-lite-frontend/execute/row_writer.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

DeferrableKeys::DeferrableKeys(NameSource& names, const TablePtr& table) : table_(table) {
  for (const Constraint& constraint : table->relation.constraints) {
    if (constraint.kind != ConstraintKind::unique || !constraint.deferrable) continue;
    const Index* index = table->index_by_oid(constraint.index);
    keys_.push_back({&constraint, index != nullptr && index->nulls_not_distinct,
                     types_of(*table, constraint.columns)});
  }
  if (!keys_.empty()) table_sql_ = table_name(names, *table);
}

void DeferrableKeys::begin() {
  notes_.clear();
  arena_.reset();
}

void DeferrableKeys::note(std::size_t key, std::vector<Value> values) {
  if (any_null(values) && !keys_[key].nulls_are_equal) return;
  notes_.push_back({key, std::move(values)});
}

void DeferrableKeys::inserted(std::span<const Value> row) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    note(i, kept(arena_, row, keys_[i].constraint->columns));
  }
}

void DeferrableKeys::updated(std::span<const Value> old_row, std::span<const Value> new_row) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::vector<Value> values = kept(arena_, new_row, keys_[i].constraint->columns);
    const std::vector<Value> before = kept(arena_, old_row, keys_[i].constraint->columns);
    if (!same_values(keys_[i].types, before, values)) note(i, std::move(values));
  }
}

Diagnostic DeferrableKeys::repeated(Execution& execution, const Note& note) const {
  const Constraint& constraint = *keys_[note.key].constraint;
  std::vector<Value> row(table_->relation.columns.size());
  for (std::size_t i = 0; i < note.values.size(); ++i) {
    row[static_cast<std::size_t>(constraint.columns[i] - 1)] = note.values[i];
  }
  Diagnostic diagnostic;
  diagnostic.state = sqlstate::unique_violation;
  diagnostic.message =
      fmt::format("duplicate key value violates unique constraint \"{}\"", constraint.name);
  if (may_read(execution.session, table_, constraint.columns)) {
    diagnostic.detail = fmt::format("Key {} already exists.",
                                    key_detail(execution, *table_, constraint.columns, row));
  }
  diagnostic.schema = schema_name(execution.session, table_->relation.schema);
  diagnostic.table = table_->relation.name;
  diagnostic.constraint = constraint.name;
  return diagnostic;
}

void DeferrableKeys::check(Execution& execution, const Note& note) const {
  const Key& key = keys_[note.key];
  std::string where;
  std::vector<TypeId> types;
  std::vector<Value> values;
  for (std::size_t i = 0; i < note.values.size(); ++i) {
    if (i > 0) where += " AND ";
    where += column_name(*table_, key.constraint->columns[i]);
    if (note.values[i].is_null()) {
      where += " IS NULL";
      continue;
    }
    types.push_back(key.types[i]);
    values.push_back(note.values[i]);
    where += fmt::format(" = ${}", values.size());
  }
  // Locking reads see the newest rows. Nobody else has the key: the writer locked it.
  const std::string another =
      fmt::format("SELECT 1 FROM {} WHERE {} OFFSET 1 FOR SHARE", table_sql_, where);
  if (run_internal(execution.session, another, types, values) == 0) return;
  if (!is_deferred(execution.session, *key.constraint)) {
    throw_diagnostic(repeated(execution, note));
  }
  defer_check(execution.session, deferred_check(execution, *key.constraint, *table_,
                                                {another, DeferredCheck::Gives::none},
                                                {another, DeferredCheck::Gives::rows}, types,
                                                values, repeated(execution, note)));
}

void DeferrableKeys::finish(Execution& execution) {
  for (const Note& note : notes_) check(execution, note);
  notes_.clear();
}

}  // namespace swizzle::sql
