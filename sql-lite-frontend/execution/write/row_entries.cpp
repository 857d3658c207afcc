// Index entries of rows, and the search for a row with a conflicting entry.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/range/range_index.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

std::string RowWriter::index_key_detail(Execution& execution, const Index& index,
                                        std::span<const Value> row) const {
  std::vector<std::int16_t> columns;
  for (const IndexColumn& column : index.columns) columns.push_back(column.column);
  const bool is_plain = std::ranges::find(columns, std::int16_t{0}) == columns.end();
  if (!execution.services.may_read(write_.table, is_plain ? columns : all_columns(table_))) {
    return {};
  }
  if (is_plain) {
    return key_detail(execution.functions, table_, columns, row);
  }
  const auto number = static_cast<std::size_t>(&index - table_.relation.indexes.data());
  const auto& expressions = write_.indexes.expressions[number].columns;
  put_in_slots(execution, row);
  std::string names;
  std::string values;
  for (std::size_t i = 0; i < index.columns.size(); ++i) {
    const bool plain = index.columns[i].column != 0;
    const auto position = static_cast<std::size_t>(plain ? index.columns[i].column - 1 : 0);
    const Value value = plain ? row[position] : expressions[i]->eval(execution);
    if (i > 0) {
      names += ", ";
      values += ", ";
    }
    names += plain ? table_.relation.columns[position].name : index.columns[i].expression_sql;
    values += value.is_null() ? "null" : to_text(execution.functions, index.columns[i].type, value);
  }
  return fmt::format("({})=({})", names, values);
}

void RowWriter::put_in_slots(Execution& execution, std::span<const Value> row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    execution.slots[write_.indexes.first_slot + i] = row[i];
  }
}

void require_key_fits(std::size_t bytes, const Index& index) {
  if (bytes > Engine::kMaxKeyBytes) {
    throw sql_error(sqlstate::program_limit_exceeded,
                    "index row size {} exceeds maximum {} for index \"{}\"", bytes,
                    Engine::kMaxKeyBytes, index.name)
        .with_hint(
            "Values larger than 1/3 of a buffer page cannot be indexed.\nConsider a "
            "function index of an MD5 hash of the value, or use full text indexing.");
  }
}

bool RowWriter::is_in_index(Execution& execution, std::size_t number,
                            std::span<const Value> row) const {
  if (!write_.has_index_expressions()) return true;
  put_in_slots(execution, row);
  const ExprPtr& predicate = write_.indexes.expressions[number].predicate;
  return !predicate || holds(*predicate, execution);
}

std::size_t RowWriter::columns_of_entries() const noexcept {
  const std::size_t all = table_.relation.columns.size();
  if (write_.has_index_expressions()) return all;
  std::size_t most = 0;
  for (const IndexAccess& access : table_.indexes) {
    if (!access.loses_entries()) continue;
    if (access.is_inverted()) return all;
    for (const IndexColumn& column : access.index->columns)
      most = std::max(most, static_cast<std::size_t>(column.column));
  }
  return most;
}

Value RowWriter::value_in_index(Execution& execution, std::size_t number, std::size_t column,
                                std::span<const Value> row) const {
  const std::int16_t place = table_.indexes[number].index->columns[column].column;
  if (place != 0) return row[static_cast<std::size_t>(place - 1)];
  return write_.indexes.expressions[number].columns[column]->eval(execution);
}

RowWriter::Entry RowWriter::entry_of(Execution& execution, std::size_t number,
                                     std::span<const Value> row, std::string_view row_key) const {
  const IndexAccess& access = table_.indexes[number];
  const Index& index = *access.index;
  if (!is_in_index(execution, number, row)) return {};
  Entry entry;
  entry.present = true;
  bool any_null = false;
  for (std::size_t i = 0; i < index.columns.size(); ++i) {
    const Value value = value_in_index(execution, number, i, row);
    any_null |= value.is_null();
    if (index.method == IndexMethod::ranges) put_range_class(entry.key, value);
    append_key(entry.key, access.columns[i], value);
  }
  const bool may_conflict = !any_null || index.nulls_not_distinct;
  entry.checked = index.unique && may_conflict;
  if (index.deferrable && may_conflict && !index.excludes()) entry.locked_bytes = entry.key.size();
  if (entry.checked) {
    entry.value = row_key;
  } else {
    entry.key += row_key;
  }
  require_key_fits(entry.key.size(), index);
  return entry;
}

namespace {

/// True if the error is about the values that were computed with, not about the session's state or
/// resources.
bool is_of_values(const SqlError& error) {
  const std::string_view of = error.state().code().substr(0, 2);
  constexpr std::string_view kOthers[] = {"40", "53", "57", "58", "XX"};
  return std::ranges::find(kOthers, of) == std::end(kOthers);
}

/// Calls `compute` for a stored row and an index; returns `none` if it fails because of the row's
/// values in an index that is not valid.
template <class Compute>
auto of_stored_row(const Index& index, Compute&& compute, decltype(compute()) none) {
  if (index.is_valid()) [[likely]]
    return compute();
  try {
    return compute();
  } catch (const SqlError& error) {
    if (!is_of_values(error)) throw;
  }
  return none;
}

}  // namespace

RowWriter::Entry RowWriter::stored_entry_of(Execution& execution, std::size_t number,
                                            std::span<const Value> row,
                                            std::string_view row_key) const {
  return of_stored_row(
      *table_.indexes[number].index, [&] { return entry_of(execution, number, row, row_key); },
      Entry{});
}

RowWriter::EntryKeys RowWriter::stored_elements_of(Execution& execution, std::size_t number,
                                                   std::span<const Value> row,
                                                   std::string_view row_key) const {
  return of_stored_row(
      *table_.indexes[number].index,
      [&] { return element_entries_of(execution, number, row, row_key); },
      EntryKeys{CountedAllocator<std::string_view>{execution.row_arena.account()}});
}

void RowWriter::lock_deferrable(Execution& execution, std::size_t index, const Entry& entry) const {
  if (entry.locked_bytes == 0) return;
  Transaction& transaction = *execution.transaction;
  Tree tree = *table_.indexes[index].tree;
  const Bytes key = as_bytes(entry.key).first(entry.locked_bytes);
  value_of(tree.lock_key(transaction, key));
  if (!keeps_snapshot(transaction.isolation())) return;
  // Check with a locking read, which fails with 40001 on a row inserted after the snapshot: the
  // snapshot alone would not show it.
  const auto present = execution.services.storage_engine().begin();
  present->begin_statement();
  const std::string end = key_successor(as_text(key));
  Cursor cursor = value_of(tree.scan(*present, {.low = key, .high = as_bytes(end)}));
  ValueBuffer ignored;
  while (value_of(cursor.next())) {
    value_of(tree.get(transaction, cursor.key(), ignored, ReadMode::for_share));
  }
}

void RowWriter::begin_exclusions(bool are_checked) noexcept {
  exclusions_.forget_notes();
  checks_exclusions_ = are_checked;
}

std::vector<Value> RowWriter::excluded_values(Execution& execution, std::size_t index,
                                              std::span<const Value> row) const {
  if (!is_in_index(execution, index, row)) return {};
  std::vector<Value> values;
  for (std::size_t i = 0; i < table_.indexes[index].columns.size(); ++i) {
    values.push_back(value_in_index(execution, index, i, row));
    if (values.back().is_null()) return {};
  }
  return values;
}

bool RowWriter::may_stand(Execution& execution, std::size_t index, std::span<const Value> row) {
  const Exclusion& exclusion = *exclusions_.of(index);
  if (exclusion.index().without_overlaps) {
    const std::int16_t period = exclusion.index().columns.back().column;
    exclusion.require_period(row[static_cast<std::size_t>(period - 1)]);
  }
  const std::vector<Value> values = excluded_values(execution, index, row);
  if (values.empty()) return true;
  exclusion.lock(*execution.transaction, values);
  if (!exclusion.index().deferrable) return !exclusion.find(*execution.transaction, values);
  if (checks_exclusions_) exclusions_.note(*execution.memory, index, values);
  return true;
}

std::optional<std::string> RowWriter::find_duplicate(Execution& execution, const Index& index,
                                                     std::span<const Value> row) {
  Transaction& transaction = *execution.transaction;
  ValueBuffer buffer;
  if (index.orders_rows()) {
    std::string key = key_for(execution, row);
    const bool found =
        value_of(tree_->get(transaction, as_bytes(key), buffer, ReadMode::for_no_key_update));
    if (!found) return std::nullopt;
    return key;
  }
  for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
    if (table_.indexes[i].index != &index) continue;
    if (index.excludes()) {
      const std::vector<Value> values = excluded_values(execution, i, row);
      const Exclusion& exclusion = *exclusions_.of(i);
      const auto found =
          values.empty() ? std::nullopt : exclusion.find(*execution.transaction, values);
      if (!found) return std::nullopt;
      std::string key = exclusion.row_key_of(*found);
      const bool is_there =
          value_of(tree_->get(transaction, as_bytes(key), buffer, ReadMode::for_no_key_update));
      return is_there ? std::optional{std::move(key)} : std::nullopt;
    }
    const Entry entry = entry_of(execution, i, row, {});
    if (!entry.present || !entry.checked) return std::nullopt;
    const Tree tree = *table_.indexes[i].tree;
    if (!value_of(
            tree.get(transaction, as_bytes(entry.key), buffer, ReadMode::for_no_key_update))) {
      return std::nullopt;
    }
    std::string key{as_text(buffer.bytes())};
    ValueBuffer locked;
    if (!value_of(tree_->get(transaction, as_bytes(key), locked, ReadMode::for_no_key_update))) {
      return std::nullopt;
    }
    return key;
  }
  return std::nullopt;
}

}  // namespace swizzle::sql
