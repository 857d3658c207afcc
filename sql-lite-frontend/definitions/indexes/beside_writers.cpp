#include "sql-lite-frontend/definitions/indexes/beside_writers.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/indexes/index_source.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/transactions/transaction_states.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/statistics.h"

namespace swizzle::sql {
namespace {

/// Commits, and goes on in a new transaction.
void commit(StatementContext& session) {
  session.catalog.end_resolution();
  const TransactionControl control{session.transaction, true};
  session.inner.end_transaction(TransactionEnd::commit, NextTransaction::plain);
  session.transaction.begin_definition();
}

/// Returns the index's position. Throws 42704 if it was dropped between two transactions.
std::size_t position_of(const Table& table, Oid index) {
  const Index* const found = table.index_by_oid(index);
  if (found == nullptr) {
    throw_error(sqlstate::undefined_object, "the index on table \"{}\" was dropped meanwhile",
                table.relation.name);
  }
  return static_cast<std::size_t>(found - table.relation.indexes.data());
}

TablePtr set_state(StatementContext& session, const Table& table, Oid index, IndexState state) {
  Relation relation = table.relation;
  relation.indexes[position_of(table, index)].state = state;
  return session.catalog.replace(*session.transaction, table, std::move(relation));
}

/// Waits until the transactions have ended that may use the table by a definition of before.
/// Others, which begin meanwhile, do not wait.
void wait_for_users(StatementContext& session, Oid table, lock::RelationMode against) {
  value_of(session.transaction->wait_for_holders(lock::RelationId{table}, against));
}

/// False if another session has rebuilt the index between two transactions. Throws 55000 if one has
/// begun to drop it.
bool is_still(const Table& table, std::size_t index, IndexState state) {
  const Index& definition = table.relation.indexes[index];
  if (definition.is_valid()) return false;
  if (definition.state == state) return true;
  throw_error(SqlState{"55000"}, "index \"{}\" is being dropped", definition.name);
}

/// The state behind this one on the way to the end.
IndexState next_to_end(IndexState state) {
  switch (state) {
    case IndexState::valid:
      return IndexState::building;
    case IndexState::building:
      return IndexState::delete_only;
    case IndexState::delete_only:
    case IndexState::abandoned:
      break;
  }
  return IndexState::abandoned;
}

bool is_blocked(const Error& error) {
  return error.state() == sqlstate::lock_not_available;
}

/// Gives an index an entry for each row of its table, in short transactions. Each locks a few rows
/// against change, reads them and adds the entries that are missing. Nothing is waited for while a
/// row is locked, so no writer becomes a deadlock's victim: a transaction that meets another's lock
/// is undone, the session's own transaction waits, and the rows are tried again.
///
/// Pre: every transaction that writes to the table maintains the index.
class EntriesBesideWriters {
 public:
  EntriesBesideWriters(StatementContext& session, const TablePtr& table, std::size_t index,
                       CommandProgress& progress)
      : session_(session),
        table_(*table),
        number_(index),
        progress_(progress),
        writing_(session, table),
        execution_(writing_.scratch->execution),
        writer_(*writing_.write),
        places_(places_of(*table, index, *writing_.write)),
        row_(table->relation.columns.size()),
        rows_(*table->tree),
        entries_tree_(*table->indexes[index].tree) {}

  void run() {
    // Later rows have their entries: a table's end may move faster than they are read.
    ValueBuffer last;
    if (!value_of(engine().greatest_key(rows_.id(), last))) return;
    last_ = as_text(last.bytes());
    while (read_keys()) {
      for (std::size_t at = 0; at < keys_.size();) at += complete_some(at);
      done_ += keys_.size();
      progress_.set(CommandProgress::index_rows_done, done_);
    }
  }

 private:
  static constexpr std::size_t kKeysRead = 1024;
  /// The rows of a transaction are locked for some hundred microseconds.
  static constexpr std::size_t kMostRows = 64;
  static constexpr std::size_t kWorkOfRow = 3000;
  /// How long a transaction of one row queues for it.
  static constexpr Duration kPatience = std::chrono::milliseconds{20};

  struct Entry {
    std::string key;
    std::string value;
  };
  /// A key that another transaction has locked.
  struct Obstacle {
    Tree tree;
    std::string key;
    bool is_row;
  };

  [[nodiscard]] Engine& engine() const noexcept { return session_.shared.engine; }

  /// Reads the keys of the next rows. Returns false at the end.
  bool read_keys() {
    const auto reading = engine().begin(Isolation::read_committed, Access::read_only);
    reading->begin_statement();
    // Commits that are not durable yet count, too.
    const InnerStatement latest{*reading};
    ScanRange range;
    range.high = as_bytes(last_);
    range.high_bound = ScanRange::Bound::inclusive;
    const std::string before = keys_.empty() ? std::string{} : keys_.back();
    if (!before.empty()) {
      range.low = as_bytes(before);
      range.low_bound = ScanRange::Bound::exclusive;
    }
    keys_.clear();
    Cursor cursor = value_of(rows_.scan(*reading, range, Direction::forward, ReadMode::snapshot,
                                        WaitPolicy::wait, ScanHint::sequential));
    while (keys_.size() < kKeysRead && value_of(cursor.next()))
      keys_.emplace_back(as_text(cursor.key()));
    return !keys_.empty();
  }

  /// Returns how many of the rows from `at` on have their entries now: none, if it has waited.
  std::size_t complete_some(std::size_t at) {
    session_.check_cancelled();
    // Releases the view of functions in the index's expressions.
    session_.transaction->begin_statement();
    const std::size_t count = std::min(at_once_, keys_.size() - at);
    const std::optional<Obstacle> obstacle = try_rows(at, count);
    yield_point(count * kWorkOfRow);
    if (!obstacle) {
      at_once_ = std::min(2 * at_once_, kMostRows);
      return count;
    }
    at_once_ = 1;
    wait_for(*obstacle);
    return 0;
  }

  /// Waits with the session's transaction, whose deadlocks are found, and which keeps no lock.
  void wait_for(const Obstacle& obstacle) {
    Transaction& transaction = *session_.transaction;
    const Bytes key = as_bytes(obstacle.key);
    if (obstacle.is_row) return value_of(obstacle.tree.wait_for_writer(transaction, key));
    // An insert waits for readers of the key, too.
    const Transaction::Mark before = transaction.mark();
    value_of(Tree{obstacle.tree}.lock_key(transaction, key));
    value_of(transaction.rollback_to(before));
  }

  std::optional<Obstacle> try_rows(std::size_t at, std::size_t count) {
    const auto batch = engine().begin();
    batch->work_for(session_.options.backend_pid, nullptr);
    batch->set_lock_timeout(kPatience);
    batch->set_deadlock_timeout(2 * kPatience);
    batch->begin_statement();
    std::optional<Obstacle> obstacle;
    // A rollback may wait, which is not allowed while an exception is being handled.
    std::exception_ptr failure;
    try {
      obstacle = lock_rows(*batch, at, count);
      if (!obstacle) obstacle = insert_entries(*batch);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure || obstacle) {
      batch->rollback();
      if (failure) std::rethrow_exception(failure);
      return obstacle;
    }
    value_of(batch->commit_unforced());
    return std::nullopt;
  }

  /// Locks rows against change and collects their entries.
  std::optional<Obstacle> lock_rows(Transaction& batch, std::size_t at, std::size_t count) {
    entries_.clear();
    RowScope scope{execution_};
    const WaitPolicy policy = count == 1 ? WaitPolicy::wait : WaitPolicy::no_wait;
    for (std::size_t i = at; i < at + count; ++i) {
      auto found = rows_.get(batch, as_bytes(keys_[i]), buffer_, ReadMode::for_share, policy);
      if (!found && is_blocked(found.error())) return Obstacle{rows_, keys_[i], true};
      if (!value_of(std::move(found))) continue;
      read_columns(RowReader{table_.layout, buffer_.bytes()}, places_, row_);
      collect(keys_[i]);
      scope.rewind();
    }
    return std::nullopt;
  }

  void collect(std::string_view row_key) {
    if (table_.indexes[number_].is_inverted()) {
      for (const std::string_view key :
           writer_.element_entries_of(execution_, number_, row_, row_key)) {
        entries_.push_back({std::string{key}, {}});
      }
      return;
    }
    RowWriter::Entry entry = writer_.entry_of(execution_, number_, row_, row_key);
    if (entry.present) entries_.push_back({std::move(entry.key), std::move(entry.value)});
  }

  /// Inserts the entries that are missing.
  std::optional<Obstacle> insert_entries(Transaction& batch) {
    std::ranges::sort(entries_, {}, &Entry::key);
    for (const Entry& entry : entries_) {
      const Bytes key = as_bytes(entry.key);
      auto inserted = entries_tree_.insert(batch, key, as_bytes(entry.value), WaitPolicy::no_wait);
      if (!inserted && is_blocked(inserted.error()))
        return Obstacle{entries_tree_, entry.key, false};
      // An entry without a value has its row's key in its own.
      if (value_of(std::move(inserted)) || entry.value.empty()) continue;
      if (auto obstacle = compare_rows(batch, entry)) return obstacle;
    }
    return std::nullopt;
  }

  /// Throws 23505 unless the entry is that of the row.
  std::optional<Obstacle> compare_rows(Transaction& batch, const Entry& entry) {
    auto found = entries_tree_.get(batch, as_bytes(entry.key), buffer_, ReadMode::for_share,
                                   WaitPolicy::no_wait);
    if (!found && is_blocked(found.error())) return Obstacle{entries_tree_, entry.key, false};
    if (value_of(std::move(found)) && as_text(buffer_.bytes()) == entry.value) return std::nullopt;
    // The other row may be about to go.
    const std::string other{as_text(buffer_.bytes())};
    auto stays =
        rows_.get(batch, as_bytes(other), buffer_, ReadMode::for_share, WaitPolicy::no_wait);
    if (!stays && is_blocked(stays.error())) return Obstacle{rows_, other, true};
    const Index& index = table_.relation.indexes[number_];
    if (!value_of(std::move(stays))) {
      throw sql_error(SqlState{"XX002"}, "index \"{}\" has an entry without a row", index.name);
    }
    RowScope scope{execution_};
    RowReader{table_.layout, buffer_.bytes()}.columns(row_);
    fail_not_unique(session_, table_, index, writer_.index_key_detail(execution_, index, row_));
  }

  StatementContext& session_;
  const Table& table_;
  std::size_t number_;
  CommandProgress& progress_;
  Writing writing_;
  Execution& execution_;
  const RowWriter writer_;
  const ColumnPlaces places_;
  std::vector<Value> row_;
  Tree rows_;
  Tree entries_tree_;
  std::string last_;               ///< key of the last row that may lack its entry
  std::vector<std::string> keys_;  ///< of the rows that were read last
  std::vector<Entry> entries_;
  ValueBuffer buffer_;
  std::size_t at_once_ = kMostRows;
  std::uint64_t done_ = 0;
};

/// Lets writers add entries, which they remove already, and gives every row its entry. Each state
/// begins when all users of the one before have ended: beside writers that did not know the index,
/// others would leave entries that nobody removes. Returns the table's newest definition.
TablePtr fill_beside_writers(StatementContext& session, TablePtr table, IndexPlace place,
                             BesideWriters command) {
  constexpr std::uint64_t kWaitingForWriters = 1;
  constexpr std::uint64_t kBuilding = 2;
  CommandProgress progress{session, CommandProgress::Command::create_index, place.table};
  progress.set(CommandProgress::index_command, static_cast<std::uint64_t>(command));
  progress.set(CommandProgress::index_oid, place.index);
  progress.set(CommandProgress::index_phase, kWaitingForWriters);
  wait_for_users(session, place.table, lock::RelationMode::share);
  set_state(session, *table, place.index, IndexState::building);
  table = commit_and_lock(session, place.table);
  const std::size_t index = position_of(*table, place.index);
  if (!is_still(*table, index, IndexState::building)) return table;
  wait_for_users(session, place.table, lock::RelationMode::share);
  progress.set(CommandProgress::index_phase, kBuilding);
  progress.set(CommandProgress::index_rows_all,
               static_cast<std::uint64_t>(std::max(0.0, table->expected_rows())));
  const AsOwner as_owner{session, table->relation.owner};
  EntriesBesideWriters{session, table, index, progress}.run();
  return table;
}

/// Frees writers of adding entries to an index whose build has failed. If that fails, too, they go
/// on with it.
void abandon(StatementContext& session, IndexPlace place) {
  try {
    TablePtr table = session.catalog.table(place.table);
    if (!table) return;
    table = session.catalog.lock_for_change(*session.transaction, table,
                                            lock::RelationMode::share_update_exclusive);
    const Index* const index = table->index_by_oid(place.index);
    if (index == nullptr || index->state != IndexState::building) return;
    set_state(session, *table, place.index, IndexState::delete_only);
    commit(session);
  } catch (const SqlError&) {
    return;
  }
}

}  // namespace

TablePtr commit_and_lock(StatementContext& session, Oid oid) {
  commit(session);
  const TablePtr table = session.catalog.table(oid);
  if (!table) throw_error(sqlstate::undefined_table, "the table of the index was dropped");
  return session.catalog.lock_for_change(*session.transaction, table,
                                         lock::RelationMode::share_update_exclusive);
}

void prevent_in_routine(const StatementContext& session, std::string_view command) {
  if (session.call_places.empty() || session.transaction.in_explicit_block()) return;
  throw_error(sqlstate::active_sql_transaction, "{} cannot be executed from a function", command);
}

TablePtr build_beside_writers(StatementContext& session, IndexPlace place, BesideWriters command) {
  const TablePtr table = commit_and_lock(session, place.table);
  if (!is_still(*table, position_of(*table, place.index), IndexState::delete_only)) return table;
  std::exception_ptr failure;
  try {
    return fill_beside_writers(session, table, place, command);
  } catch (const SqlError&) {
    failure = std::current_exception();
  }
  abandon(session, place);
  std::rethrow_exception(failure);
}

void note_complete(StatementContext& session, const Table& table, Oid index) {
  table.runtime->note_complete(index, Lsn{session.shared.engine.statistics().log_tail});
}

void drop_beside_users(StatementContext& session, IndexPlace place) {
  while (true) {
    const TablePtr table = commit_and_lock(session, place.table);
    wait_for_users(session, place.table, lock::RelationMode::access_exclusive);
    const std::size_t index = position_of(*table, place.index);
    const IndexState now = table->relation.indexes[index].state;
    if (now != IndexState::abandoned) {
      set_state(session, *table, place.index, next_to_end(now));
      continue;
    }
    Relation relation = table->relation;
    const auto gone = relation.indexes.begin() + static_cast<std::ptrdiff_t>(index);
    drop_index_tree(session, *gone);
    relation.indexes.erase(gone);
    session.catalog.replace(*session.transaction, *table, std::move(relation));
    return;
  }
}

}  // namespace swizzle::sql
