#include "sql-lite-frontend/execution/write/row_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/type_io.h"
#include "storage/bulk_changes.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kDetailFieldBytes = 64;
/// Statements that change fewer rows change indexes at once.
constexpr std::size_t kWorthCollecting = 64;

void append_row_id(std::string& key, std::int64_t row_id) {
  std::byte bytes[sizeof row_id];
  store_big_endian(bytes, static_cast<std::uint64_t>(row_id));
  key += as_text(Bytes{bytes, sizeof bytes});
}

/// Returns the largest row id in the table, for the first insert after start-up. There was no
/// insert since, so the committed rows are all rows. Another transaction reads, because reads of
/// the writer's own at SERIALIZABLE would keep others from inserting.
std::int64_t largest_row_id(Execution& execution, const Tree& tree) {
  // Includes rows of a prepared transaction, which are not visible.
  ValueBuffer key;
  if (!value_of(execution.services.storage_engine().greatest_key(tree.id(), key))) return 0;
  return static_cast<std::int64_t>(load_big_endian<std::uint64_t>(key.bytes().data()));
}

/// True if there may be a snapshot that is never read from the index.
bool is_beside_snapshots(const IndexAccess& access) noexcept {
  return !access.index->is_valid() || access.complete_since != Lsn::none;
}

void name_table(SqlError& error, Execution& execution, const Table& table) {
  error.fields().schema = execution.services.schema_name(table.relation.schema);
  error.fields().table = table.relation.name;
}

}  // namespace

std::string shortened_value(std::string value) {
  if (value.size() <= kDetailFieldBytes) return value;
  std::size_t end = kDetailFieldBytes;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  value.resize(end);
  return value + "...";
}

std::vector<std::int16_t> all_columns(const Table& table) {
  std::vector<std::int16_t> numbers;
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    if (!table.relation.columns[i].dropped) numbers.push_back(static_cast<std::int16_t>(i + 1));
  }
  return numbers;
}

namespace {

/// True if the statement itself assigns the column.
bool gives_value(const WriteStatement& write, std::size_t position) {
  if (write.partitions.shown_as) {
    return std::ranges::find(write.insert.columns, position) != write.insert.columns.end();
  }
  const bool assigned = std::ranges::any_of(
      write.assignments, [&](const Assignment& one) { return one.position == position; });
  return assigned ||
         std::ranges::find(write.insert.columns, position) != write.insert.columns.end();
}

}  // namespace

std::string failing_row(Execution& execution, const WriteStatement& write,
                        std::span<const Value> given) {
  const TablePtr& shown = write.partitions.shown_as ? write.partitions.shown_as : write.table;
  const Table& table = *shown;
  std::vector<Value> placed;
  for (const std::size_t place : write.partitions.shown_places) {
    placed.push_back(place < given.size() ? given[place] : Value::null());
  }
  const std::span<const Value> row = placed.empty() ? given : std::span<const Value>{placed};
  if (execution.services.hides_rows(table)) return {};
  const bool shows_all = execution.services.may_read(shown, all_columns(table));
  std::string names;
  std::string values;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (column.dropped) continue;
    const std::int16_t number[] = {static_cast<std::int16_t>(i + 1)};
    if (!shows_all && !gives_value(write, i) && !execution.services.may_read(shown, number)) {
      continue;
    }
    if (!names.empty()) {
      names += ", ";
      values += ", ";
    }
    names += column.name;
    values += column.is_virtual ? "virtual"
              : row[i].is_null()
                  ? "null"
                  : shortened_value(to_text(execution.functions, column.type, row[i]));
  }
  if (names.empty() && !shows_all) return {};
  if (shows_all) return fmt::format("Failing row contains ({}).", values);
  return fmt::format("Failing row contains ({}) = ({}).", names, values);
}

std::string key_detail(FunctionContext& functions, const Table& table,
                       std::span<const std::int16_t> columns, std::span<const Value> row) {
  std::string names;
  std::string values;
  for (const std::int16_t number : columns) {
    const auto position = static_cast<std::size_t>(number - 1);
    const Column& column = table.relation.columns[position];
    if (!names.empty()) {
      names += ", ";
      values += ", ";
    }
    names += column.name;
    values += row[position].is_null() ? "null" : to_text(functions, column.type, row[position]);
  }
  return fmt::format("({})=({})", names, values);
}

void fail_missing_entry(const Index& index) {
  throw sql_error(SqlState{"XX002"}, "index \"{}\" lacks the entry of a row", index.name)
      .with_hint("Please REINDEX it.");
}

RowWriter::RowWriter(const WriteStatement& write)
    : write_(write),
      table_(*write.table),
      publisher_(write.table),
      exclusions_(write.table),
      tree_(write.table->tree) {
  may_move_row_ = std::ranges::any_of(table_.key_positions,
                                      [this](std::size_t position) { return assigns(position); });
  for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
    may_move_entry_.push_back(may_move_entry(i));
  }
}

/// True if an update by this statement assigns the column.
bool RowWriter::assigns(std::size_t position) const {
  if (write_.triggers.may_assign) return true;
  const auto is_it = [position](const Assignment& one) { return one.position == position; };
  return std::ranges::any_of(write_.assignments, is_it) ||
         std::ranges::any_of(write_.generated, is_it);
}

/// True if an update that leaves the row at its key may move its entry in the index.
bool RowWriter::may_move_entry(std::size_t index) const {
  // Expressions and predicates may read any column.
  const Index& definition = *table_.indexes[index].index;
  if (!definition.predicate_sql.empty()) return true;
  return std::ranges::any_of(definition.columns, [this](const IndexColumn& column) {
    return column.column == 0 || assigns(static_cast<std::size_t>(column.column - 1));
  });
}

void RowWriter::check_not_null(Execution& execution, std::span<const Value> row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Column& column = table_.relation.columns[i];
    if (!column.not_null || column.dropped || !row[i].is_null() || column.is_virtual) continue;
    fail_null(execution, column, row);
  }
  for (const Assignment& needed : write_.needed_virtual) {
    if (needed.expr->eval(execution).is_null())
      fail_null(execution, table_.relation.columns[needed.position], row);
  }
}

void RowWriter::fail_null(Execution& execution, const Column& column,
                          std::span<const Value> row) const {
  SqlError error =
      sql_error(sqlstate::not_null_violation,
                "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                column.name, table_.relation.name)
          .with_detail(failing_row(execution, write_, row));
  name_table(error, execution, table_);
  error.fields().column = column.name;
  throw error;
}

void RowWriter::fail_duplicate(Execution& execution, const Index& index,
                               std::span<const Value> row) const {
  if (index.excludes()) {
    const auto number = static_cast<std::size_t>(&index - table_.relation.indexes.data());
    const Exclusion& exclusion = *exclusions_.of(number);
    const std::vector<Value> values = excluded_values(execution, number, row);
    Transaction& transaction = *execution.transaction;
    const auto entry = exclusion.find(transaction, values);
    exclusion.fail(execution.services, execution.functions, transaction, values,
                   entry ? *entry : std::string{});
  }
  SqlError error = sql_error(sqlstate::unique_violation,
                             "duplicate key value violates unique constraint \"{}\"", index.name);
  if (const std::string key = index_key_detail(execution, index, row); !key.empty()) {
    error = std::move(error).with_detail(fmt::format("Key {} already exists.", key));
  }
  name_table(error, execution, table_);
  error.fields().constraint = index.name;
  throw error;
}

void RowWriter::make_key(Execution& execution, std::span<const Value> row, std::string& key) const {
  key.clear();
  if (table_.has_row_ids()) {
    std::atomic<std::int64_t>& next = table_.runtime->next_row_id;
    if (next.load(std::memory_order_relaxed) == 0) {
      std::int64_t first = largest_row_id(execution, *tree_) + 1;
      std::int64_t unset = 0;
      // The first exchange is right: there can be no insert before the counter was set.
      next.compare_exchange_strong(unset, first, std::memory_order_relaxed);
    }
    append_row_id(key, next.fetch_add(1, std::memory_order_relaxed));
    return;
  }
  for (std::size_t i = 0; i < table_.key_positions.size(); ++i) {
    append_key(key, table_.key_columns[i], row[table_.key_positions[i]]);
  }
  if (key.size() > Engine::kMaxKeyBytes) {
    throw_error(sqlstate::program_limit_exceeded,
                "index row size {} exceeds maximum {} for index \"{}\"", key.size(),
                Engine::kMaxKeyBytes, table_.row_order()->name);
  }
}

std::string RowWriter::key_for(Execution& execution, std::span<const Value> row) const {
  std::string key;
  make_key(execution, row, key);
  return key;
}

void RowWriter::encode(std::span<const Value> row) {
  row_buffer_.clear();
  append_row(row_buffer_, table_.layout, row);
}

void RowWriter::abandon_changes() noexcept {
  load_.reset();
  collects_ = false;
  changes_ = 0;
  batches_.clear();
}

void RowWriter::begin_changes() noexcept {
  abandon_changes();
  collects_ = true;
}

EntryBatch* RowWriter::batch_of(const Transaction& transaction, std::size_t index) {
  const IndexAccess& access = table_.indexes[index];
  if (!collects_ || changes_ < kWorthCollecting || access.index->unique ||
      exclusions_.of(index) != nullptr) {
    return nullptr;
  }
  if (batches_.empty()) batches_.resize(table_.indexes.size());
  if (batches_[index] == nullptr)
    batches_[index] = std::make_unique<EntryBatch>(entries_of(transaction, index));
  return batches_[index].get();
}

/// The row and its entries are written, or collected.
void RowWriter::note_change(Transaction& transaction, Counted kind) {
  table_.runtime->counters.add(kind);
  ++changes_;
  // Estimated cost of a row in nanoseconds; reading the clock more often would slow down bulk
  // changes.
  constexpr std::size_t kPerRow = 2000;
  yield_point(kPerRow);
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i] != nullptr && batches_[i]->is_full()) apply_batch(i, transaction);
  }
}

void RowWriter::apply_batch(std::size_t index, Transaction& transaction) {
  batches_[index]->apply(transaction);
  table_.indexes[index].counters->add(Counted::leaves, batches_[index]->take_leaf_requests());
}

void RowWriter::begin_load(Execution& execution) {
  load_ = TableLoad::start(execution, table_);
}

void RowWriter::end_changes(Execution& execution) {
  finish_load();
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i] != nullptr) apply_batch(i, *execution.transaction);
  }
  abandon_changes();
}

void RowWriter::finish_load() {
  if (load_ == nullptr) return;
  load_->finish();
  load_.reset();
}

bool RowWriter::insert_row(Transaction& transaction, std::string_view key) {
  if (load_ != nullptr) {
    if (load_->add(key, row_buffer_)) return true;
    finish_load();
  }
  return value_of(tree_->insert(transaction, as_bytes(key), as_bytes(row_buffer_)));
}

const Index* RowWriter::insert(Execution& execution, std::span<const Value> row,
                               OnConflict on_conflict) {
  make_key(execution, row, key_buffer_);
  encode(row);
  const std::string_view key = key_buffer_;
  Transaction& transaction = *execution.transaction;
  const Transaction::Mark mark = transaction.mark();
  if (!insert_row(transaction, key)) {
    if (on_conflict == OnConflict::report) return table_.row_order();
    fail_duplicate(execution, *table_.row_order(), row);
  }
  for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
    const IndexAccess& access = table_.indexes[i];
    if (!access.takes_entries()) continue;
    if (access.is_inverted()) {
      insert_elements(execution, i, row, key);
      continue;
    }
    const Entry entry = entry_of(execution, i, row, key);
    if (!entry.present) continue;
    if (exclusions_.of(i) != nullptr && !may_stand(execution, i, row)) {
      if (on_conflict == OnConflict::fail) fail_duplicate(execution, *access.index, row);
      value_of(transaction.rollback_to(mark));
      return access.index;
    }
    lock_deferrable(execution, i, entry);
    if (load_ != nullptr && load_->add_entry(i, entry.key, entry.value)) continue;
    if (EntryBatch* const batch = batch_of(transaction, i)) {
      STATEMENT_INVARIANT(on_conflict == OnConflict::fail);
      batch->insert(entry.key);
      continue;
    }
    note_entry(i);
    Tree tree = entries_of(transaction, i);
    if (value_of(tree.insert(transaction, as_bytes(entry.key), as_bytes(entry.value)))) continue;
    if (on_conflict == OnConflict::fail) fail_duplicate(execution, *access.index, row);
    value_of(transaction.rollback_to(mark));
    return access.index;
  }
  publisher_.inserted(execution, row);
  note_change(transaction, Counted::inserted);
  if (write_.insert.conflict.kind == ConflictAction::Kind::update) last_key_ = key;
  return nullptr;
}

void RowWriter::update(Execution& execution, Bytes key, std::span<const Value> old_row,
                       std::span<const Value> new_row) {
  Transaction& transaction = *execution.transaction;
  // The key's bytes may be those of a cursor, which the statement moves on.
  old_key_buffer_ = as_text(key);
  const std::string& old_key = old_key_buffer_;
  if (may_move_row_) make_key(execution, new_row, key_buffer_);
  const std::string& new_key = may_move_row_ ? key_buffer_ : old_key;
  encode(new_row);
  if (write_.insert.conflict.kind == ConflictAction::Kind::update) last_key_ = new_key;
  const bool moves = new_key != old_key;
  if (!moves) {
    value_of(tree_->update(transaction, as_bytes(old_key), as_bytes(row_buffer_)));
  } else {
    if (!value_of(tree_->move(transaction, as_bytes(old_key), as_bytes(new_key),
                              as_bytes(row_buffer_)))) {
      fail_duplicate(execution, *table_.row_order(), new_row);
    }
  }
  for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
    const bool stays = !moves && !may_move_entry_[i];
    if (stays || !table_.indexes[i].loses_entries()) continue;
    move_entry(execution, i, old_row, new_row, old_key, new_key);
  }
  publisher_.updated(execution, old_row, new_row);
  note_change(transaction, Counted::updated);
}

void RowWriter::move_entry(Execution& execution, std::size_t index, std::span<const Value> old_row,
                           std::span<const Value> new_row, std::string_view old_key,
                           std::string_view new_key) {
  Transaction& transaction = *execution.transaction;
  if (table_.indexes[index].is_inverted()) {
    return move_elements(execution, index, old_row, new_row, old_key, new_key);
  }
  Tree tree = entries_of(transaction, index);
  const Entry before = stored_entry_of(execution, index, old_row, old_key);
  const Entry after = table_.indexes[index].takes_entries()
                          ? entry_of(execution, index, new_row, new_key)
                          : Entry{};
  if (before.present == after.present && before.key == after.key) {
    if (!before.present || before.value == after.value) return;
    // An entry that may be missing, or another row's, is removed and inserted below.
    if (table_.indexes[index].index->is_valid()) {
      note_entry(index);
      value_of(tree.update(transaction, as_bytes(after.key), as_bytes(after.value)));
      return;
    }
  }
  lock_deferrable(execution, index, before);
  lock_deferrable(execution, index, after);
  if (EntryBatch* const batch = batch_of(transaction, index)) {
    if (before.present) batch->remove(before.key);
    if (after.present) batch->insert(after.key);
    return;
  }
  if (before.present) remove_entry(execution, index, before);
  if (after.present && exclusions_.of(index) != nullptr && !may_stand(execution, index, new_row)) {
    fail_duplicate(execution, *table_.indexes[index].index, new_row);
  }
  if (after.present) note_entry(index);
  if (after.present &&
      !value_of(tree.insert(transaction, as_bytes(after.key), as_bytes(after.value)))) {
    fail_duplicate(execution, *table_.indexes[index].index, new_row);
  }
}

void RowWriter::remove(Execution& execution, Bytes key, std::span<const Value> old_row) {
  old_key_buffer_ = as_text(key);
  value_of(tree_->remove(*execution.transaction, as_bytes(old_key_buffer_)));
  remove_entries(execution, old_row);
}

std::size_t RowWriter::remove_first(Execution& execution, const HeldRows& rows, std::size_t from) {
  constexpr std::size_t kMost = 256;
  removals_.clear();
  for (std::size_t i = from; i < std::min(rows.size(), from + kMost); ++i)
    removals_.push_back({as_bytes(rows.key(i)), as_bytes(rows.row(i))});
  return value_of(swizzle::remove_first(*tree_, *execution.transaction, removals_));
}

void RowWriter::removed(Execution& execution, std::string_view key,
                        std::span<const Value> old_row) {
  old_key_buffer_ = key;
  remove_entries(execution, old_row);
}

bool RowWriter::has_entries() const noexcept {
  return std::ranges::any_of(table_.indexes, &IndexAccess::loses_entries);
}

bool RowWriter::remove_unchanged(Execution& execution, const StoredRow& stored,
                                 std::span<const Value> old_row) {
  old_key_buffer_ = as_text(stored.key);
  if (!value_of(swizzle::remove_unchanged(*tree_, *execution.transaction, as_bytes(old_key_buffer_),
                                          stored.row))) {
    return false;
  }
  remove_entries(execution, old_row);
  return true;
}

Tree RowWriter::entries_of(const Transaction& transaction, std::size_t index) const noexcept {
  const IndexAccess& access = table_.indexes[index];
  if (!is_beside_snapshots(access)) [[likely]]
    return *access.tree;
  const bool is_read =
      access.index->is_valid() && transaction.shows_all_before(access.complete_since);
  return is_read ? *access.tree : access.tree->beside_snapshot();
}

void RowWriter::remove_entry(Execution& execution, std::size_t index, const Entry& entry) {
  Transaction& transaction = *execution.transaction;
  const Index& definition = *table_.indexes[index].index;
  Tree tree = entries_of(transaction, index);
  note_entry(index);
  if (!definition.is_valid() && entry.checked) {
    // Another row may have the key: one that was inserted before this one's entry was.
    ValueBuffer row;
    const Bytes key = as_bytes(entry.key);
    if (!value_of(tree.get(transaction, key, row, ReadMode::for_update))) return;
    if (as_text(row.bytes()) != entry.value) return;
  }
  if (value_of(tree.remove(transaction, as_bytes(entry.key)))) return;
  if (definition.is_valid()) fail_missing_entry(definition);
}

/// Removes the index entries of the row with key old_key_buffer_.
void RowWriter::remove_entries(Execution& execution, std::span<const Value> old_row) {
  Transaction& transaction = *execution.transaction;
  for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
    const IndexAccess& access = table_.indexes[i];
    if (!access.loses_entries()) continue;
    if (access.is_inverted()) {
      remove_elements(execution, i, old_row, old_key_buffer_);
      continue;
    }
    const Entry entry = stored_entry_of(execution, i, old_row, old_key_buffer_);
    if (!entry.present) continue;
    lock_deferrable(execution, i, entry);
    if (EntryBatch* const batch = batch_of(transaction, i)) {
      batch->remove(entry.key);
      continue;
    }
    remove_entry(execution, i, entry);
  }
  publisher_.removed(execution, old_row);
  note_change(transaction, Counted::removed);
}

}  // namespace swizzle::sql
