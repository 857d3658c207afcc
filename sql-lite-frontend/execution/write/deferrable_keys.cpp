#include "sql-lite-frontend/execution/write/deferrable_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

DeferrableKeys::DeferrableKeys(NameSource& names, const TablePtr& table)
    : table_(table), names_(names) {
  for (const Constraint& constraint : table->relation.constraints) {
    if (constraint.kind != ConstraintKind::unique || !constraint.deferrable) continue;
    const Index* index = table->index_by_oid(constraint.index);
    if (index != nullptr && index->excludes()) continue;  // Exclusions checks it
    keys_.push_back({&constraint, index != nullptr && index->nulls_not_distinct,
                     types_of(*table, constraint.columns)});
  }
}

void DeferrableKeys::note(Execution& execution, std::size_t key, std::span<const Value> values) {
  if (any_null(values) && !keys_[key].nulls_are_equal) return;
  notes_.add(*execution.memory, static_cast<std::int64_t>(key), values);
}

void DeferrableKeys::inserted(Execution& execution, std::span<const Value> row) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    note(execution, i, values_of(row, keys_[i].constraint->columns));
  }
}

void DeferrableKeys::updated(Execution& execution, std::span<const Value> old_row,
                             std::span<const Value> new_row) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::vector<Value> values = values_of(new_row, keys_[i].constraint->columns);
    const std::vector<Value> before = values_of(old_row, keys_[i].constraint->columns);
    if (!same_values(keys_[i].types, before, values)) note(execution, i, values);
  }
}

namespace {

/// True if more than one row has these values. Uses locking reads, which see the newest rows; the
/// writer has locked the key.
bool is_repeated(StatementServices& services, NameSource& names, const Table& table,
                 const Constraint& constraint, std::span<const Value> key) {
  std::string where;
  std::vector<TypeId> types;
  std::vector<Value> values;
  const std::vector<TypeId> key_types = types_of(table, constraint.columns);
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i > 0) where += " AND ";
    where += column_name(table, constraint.columns[i]);
    if (key[i].is_null()) {
      where += " IS NULL";
      continue;
    }
    types.push_back(key_types[i]);
    values.push_back(key[i]);
    where += fmt::format(" = ${}", values.size());
  }
  return services.run_internal(fmt::format("SELECT 1 FROM {} WHERE {} OFFSET 1 FOR SHARE",
                                           table_name(names, table), where),
                               types, values) > 0;
}

[[noreturn]] void fail_repeated(StatementServices& services, FunctionContext& functions,
                                const TablePtr& table, const Constraint& constraint,
                                std::span<const Value> key) {
  std::vector<Value> row(table->relation.columns.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    row[static_cast<std::size_t>(constraint.columns[i] - 1)] = key[i];
  }
  Diagnostic diagnostic;
  diagnostic.state = sqlstate::unique_violation;
  diagnostic.message =
      fmt::format("duplicate key value violates unique constraint \"{}\"", constraint.name);
  if (services.may_read(table, constraint.columns)) {
    diagnostic.detail = fmt::format("Key {} already exists.",
                                    key_detail(functions, *table, constraint.columns, row));
  }
  diagnostic.schema = services.schema_name(table->relation.schema);
  diagnostic.table = table->relation.name;
  diagnostic.constraint = constraint.name;
  throw_diagnostic(diagnostic);
}

}  // namespace

void check_deferred_key(StatementServices& services, NameSource& names, const TablePtr& table,
                        const DeferredCheck& check) {
  const auto& constraints = table->relation.constraints;
  const auto constraint = std::ranges::find(constraints, check.constraint, &Constraint::oid);
  if (constraint == constraints.end()) return;
  if (!is_repeated(services, names, *table, *constraint, check.values)) return;
  Arena arena;
  FunctionContext functions{arena, names.context(), {}};
  fail_repeated(services, functions, table, *constraint, check.values);
}

void DeferrableKeys::check(Execution& execution, std::size_t key,
                           std::span<const Value> values) const {
  const Constraint& constraint = *keys_[key].constraint;
  if (!is_repeated(execution.services, names_, *table_, constraint, values)) return;
  if (!execution.services.is_deferred(constraint)) {
    fail_repeated(execution.services, execution.functions, table_, constraint, values);
  }
  execution.services.defer_check(
      {DeferredCheck::Kind::is_unique, constraint.oid, table_->relation.oid, values});
}

void DeferrableKeys::finish(Execution& execution) {
  if (notes_.empty()) return;
  RowEvents::Reader reader{notes_};
  while (reader.next()) {
    check(execution, static_cast<std::size_t>(reader.what()), reader.values());
  }
  notes_.clear();
}

}  // namespace swizzle::sql
