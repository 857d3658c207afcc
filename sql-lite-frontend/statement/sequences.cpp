#include "sql-lite-frontend/statement/sequences.h"

#include <algorithm>

#include "base/runtime/park_mutex.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kSequenceLimit{"2200H"};
/// Numbers per record; a crash skips the unused ones.
constexpr std::int64_t kNumbersPerRecord = 32;
/// If that many numbers are used up sooner than this, the next record covers twice as many, up to a
/// limit. A commit waits for the last record, and would otherwise wait for many of them, one after
/// the other.
constexpr Duration kShortWhile = std::chrono::milliseconds{20};
constexpr std::int64_t kMostNumbersPerRecord = 1024;

}  // namespace

struct Sequences::Entry {
  /// Held while the position is recorded or set. Others that need a record meanwhile park.
  ParkMutex recorder;
  /// Held for arithmetic only, never while parked.
  std::mutex mutex;
  bool loaded = false;
  SequenceState now;
  std::int64_t recorded_steps = 0;  ///< how many more numbers the record covers
  Lsn recorded = Lsn::none;         ///< the commit of that record, if it was made since the start
  std::int64_t batch = kNumbersPerRecord;  ///< how many the last record covered
  TimePoint batch_at{};                    ///< when that was
};

Sequences::~Sequences() = default;

std::shared_ptr<Sequences::Entry> Sequences::entry(Oid position) {
  const std::lock_guard lock{mutex_};
  std::shared_ptr<Entry>& found = entries_[position];
  if (!found) found = std::make_shared<Entry>();
  return found;
}

void Sequences::forget(Oid position) {
  const std::lock_guard lock{mutex_};
  entries_.erase(position);
}

void Sequences::forget_read() {
  const std::lock_guard lock{mutex_};
  for (const auto& [position, entry] : entries_) {
    const std::lock_guard its_own{entry->mutex};
    entry->loaded = false;
  }
}

void Sequences::remove(const Catalog& catalog, std::span<const Oid> positions) {
  if (positions.empty()) return;
  for (const Oid position : positions) forget(position);
  auto transaction = engine_.begin();
  transaction->begin_statement();
  Tree tree = catalog.tree();
  for (const Oid position : positions) {
    const std::string key = object_key(catalog.database(), RecordKind::sequence, position);
    value_of(tree.remove(*transaction, as_bytes(key)));
  }
  value_of(transaction->commit(Transaction::Durability::asynchronous));
}

void Sequences::load(Entry& entry, const Catalog& catalog, const Relation& sequence) {
  {
    const std::lock_guard lock{entry.mutex};
    if (entry.loaded) return;
  }
  SequenceState state{sequence.sequence->start, false};
  auto transaction = engine_.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  ValueBuffer buffer;
  const std::string key =
      object_key(catalog.database(), RecordKind::sequence, position_of(sequence));
  if (value_of(catalog.tree().get(*transaction, as_bytes(key), buffer))) {
    state.last_value =
        static_cast<std::int64_t>(load_big_endian<std::uint64_t>(buffer.bytes().data()));
    state.is_called = std::to_integer<int>(buffer.bytes()[8]) != 0;
  }
  transaction->rollback();
  const std::lock_guard lock{entry.mutex};
  if (entry.loaded) return;
  entry.now = state;
  entry.recorded_steps = 0;
  entry.loaded = true;
}

void Sequences::record(Entry& entry, const Catalog& catalog, Oid position,
                       const SequenceState& state) {
  std::byte value[9];
  store_big_endian(value, static_cast<std::uint64_t>(state.last_value));
  value[8] = std::byte{state.is_called};
  const std::string key = object_key(catalog.database(), RecordKind::sequence, position);
  auto transaction = engine_.begin();
  transaction->begin_statement();
  Tree tree = catalog.tree();
  if (!value_of(tree.update(*transaction, as_bytes(key), value))) {
    value_of(tree.insert(*transaction, as_bytes(key), value));
  }
  const Lsn commit = value_of(transaction->commit_unforced());
  const std::lock_guard lock{entry.mutex};
  entry.recorded = commit;
}

namespace {

/// The number after `state`, and the state then.
SequenceState advance(const SequenceState& state, const SequenceDefinition& definition,
                      std::string_view name) {
  if (!state.is_called) return {state.last_value, true};
  std::int64_t next = 0;
  const bool up = definition.increment > 0;
  const bool overflow = __builtin_add_overflow(state.last_value, definition.increment, &next);
  if (overflow || (up && next > definition.maximum) || (!up && next < definition.minimum)) {
    if (!definition.cycle) {
      throw_error(kSequenceLimit, "nextval: reached {} value of sequence \"{}\" ({})",
                  up ? "maximum" : "minimum", name, up ? definition.maximum : definition.minimum);
    }
    next = up ? definition.minimum : definition.maximum;
  }
  return {next, true};
}

}  // namespace

std::int64_t Sequences::next(const Catalog& catalog, const Relation& sequence, Transaction& user,
                             Handle& handle) {
  const Oid position = position_of(sequence);
  if (handle.position_ != position) {
    handle.entry_ = entry(position);
    handle.position_ = position;
  }
  Entry& state = *handle.entry_;
  for (;;) {
    {
      const std::lock_guard lock{state.mutex};
      if (state.loaded && state.recorded_steps > 0) {
        state.now = advance(state.now, *sequence.sequence, sequence.name);
        --state.recorded_steps;
        if (state.recorded != Lsn::none) user.depend_on(state.recorded);
        return state.now.last_value;
      }
    }
    load(state, catalog, sequence);
    const std::lock_guard recorder{state.recorder};
    record_ahead(state, catalog, sequence);
  }
}

void Sequences::record_ahead(Entry& entry, const Catalog& catalog, const Relation& sequence) {
  SequenceState ahead;
  const TimePoint now = Runtime::current().now();
  std::int64_t most = kNumbersPerRecord;
  {
    const std::lock_guard lock{entry.mutex};
    if (entry.recorded_steps > 0) return;  // by another session meanwhile
    ahead = entry.now;
    if (now - entry.batch_at < kShortWhile) {
      most = std::min(entry.batch * 2, kMostNumbersPerRecord);
    }
    entry.batch = most;
    entry.batch_at = now;
  }
  // Fails here, before anything is recorded, when the sequence is exhausted.
  ahead = advance(ahead, *sequence.sequence, sequence.name);
  std::int64_t steps = 1;
  for (; steps < most; ++steps) {
    try {
      ahead = advance(ahead, *sequence.sequence, sequence.name);
    } catch (const SqlError&) {
      break;
    }
  }
  record(entry, catalog, position_of(sequence), ahead);
  const std::lock_guard lock{entry.mutex};
  entry.recorded_steps = steps;
}

void Sequences::return_values_ahead(const Catalog& catalog, const Relation& sequence) {
  const std::shared_ptr<Entry> state = entry(position_of(sequence));
  load(*state, catalog, sequence);
  const std::lock_guard recorder{state->recorder};
  SequenceState now;
  {
    const std::lock_guard lock{state->mutex};
    if (state->recorded_steps == 0) return;
    state->recorded_steps = 0;
    now = state->now;
  }
  record(*state, catalog, position_of(sequence), now);
}

void Sequences::set(const Catalog& catalog, const Relation& sequence, Transaction& user,
                    std::int64_t value, bool is_called) {
  const std::shared_ptr<Entry> state = entry(position_of(sequence));
  load(*state, catalog, sequence);
  const std::lock_guard recorder{state->recorder};
  {
    // The record would not cover a number that is given out meanwhile.
    const std::lock_guard lock{state->mutex};
    state->recorded_steps = 0;
  }
  record(*state, catalog, position_of(sequence), {value, is_called});
  const std::lock_guard lock{state->mutex};
  state->now = {value, is_called};
  user.depend_on(state->recorded);
}

SequenceState Sequences::state(const Catalog& catalog, const Relation& sequence) {
  const std::shared_ptr<Entry> state = entry(position_of(sequence));
  load(*state, catalog, sequence);
  const std::lock_guard lock{state->mutex};
  return state->now;
}

}  // namespace swizzle::sql
