#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "lock/internal/entry_pool.h"
#include "lock/internal/lock_table.h"
#include "lock/internal/private_table.h"
#include "lock/internal/seat.h"
#include "lock/lock_manager.h"
#include "lock/lock_types.h"

namespace swizzle::lock {

/// The locks of one transaction after another. Used by one thread or fiber at a time, except
/// cancel(). Reusing an owner is cheap; a session keeps one.
///
/// Errors of everything that may wait: 40P01 deadlock (the detail says who waits for whom, on
/// what), 55P03 lock timeout or NOWAIT, 57014 cancelled. A failed request leaves nothing queued,
/// and the owner keeps what it had.
class LockOwner {
 public:
  explicit LockOwner(LockManager& manager);
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;
  /// Pre: nothing is held.
  ~LockOwner();

  /// Whether an owner's many read locks in a table may become one on the table, which holds up all
  /// who write to it.
  enum class Escalation : std::uint8_t { never, when_due };
  /// Starts a transaction. Its number decides who is younger; TxnId::none is the youngest.
  /// Pre: nothing is held. Post: the read watermark is Lsn::none.
  void begin(TxnId txn, Escalation escalation = Escalation::never) noexcept;

  /// Gives the running transaction its number, when it gets one only at its first write.
  void identify(TxnId txn) noexcept;

  /// For the views and for deadlock reports: whom the owner works for, and, unless null, where it
  /// says what it is doing. `doing` is read by whoever waits through this owner, when it begins to
  /// wait, and outlives the owner or the next call.
  void work_for(OwnerLabel label, const std::string* doing) noexcept;

  /// May wait. Pre: no latch is held.
  Result<Acquired> acquire(LockId id, KeyMode mode, LockWait wait = {});

  /// Never waits, so it may be called under a latch. On failure nothing is left behind.
  [[nodiscard]] bool try_acquire(LockId id, KeyMode mode);

  /// Has fetched what a request for `id` will look at.
  void prefetch(LockId id) const noexcept;
  /// The next step, some time later: what prefetch() has brought tells where more is.
  void prefetch_entries(LockId id) const noexcept;

  /// Whether others leave room for `mode` now; takes no lock. An insert asks it for the gap after
  /// the predecessor (kInsertIntoGap) under the leaf's exclusive latch, which keeps readers from
  /// making a new gap lock valid. May be called under a latch.
  [[nodiscard]] bool is_free(LockId id, KeyMode mode) const noexcept;
  [[nodiscard]] bool gap_is_free(LockId id) const noexcept { return is_free(id, kInsertIntoGap); }

  /// Waits in the queue until is_free() would have said yes, and keeps nothing. The caller descends
  /// and asks again. May wait.
  Result<Acquired> wait_until_free(LockId id, KeyMode mode, LockWait wait = {});

  /// For an owner who says in another way which keys are its own, where each will be looked at by
  /// whoever has locked it: takes a new TransactionLock, says so in `published`, and releases the
  /// one before, so that all who wait for it look again. Until release_all(). Never waits.
  /// Pre: the transaction has its number.
  void lock_transaction(std::atomic<TransactionLock>& published);
  /// Waits until its owner has released it, and keeps nothing. May wait.
  Result<Acquired> wait_for_transaction(TransactionLock of, LockWait wait = {});
  /// Gives up what was acquired last, as far as it is of this key, `covered` says as much, and
  /// nobody can come back to it by a savepoint().
  void release_last(LockId id, KeyMode covered) noexcept;

  /// Intents are usually granted without touching shared memory. May wait.
  Result<Acquired> acquire_table(TreeId tree, TableMode mode, LockWait wait = {});
  /// Whether acquire_table() would have nothing to do, as it is with all rows of a transaction but
  /// the first.
  [[nodiscard]] bool has_table(TreeId tree, TableMode mode) const noexcept {
    const TableRecord* const record = find_record({0, tree, Scope::table});
    return record != nullptr && implies(record->total, mode) &&
           record->read_locks < record->escalate_at;
  }
  Result<Acquired> acquire_database(TableMode mode, LockWait wait = {});

  /// PostgreSQL's locks on a relation; the three weakest on the private path of intents.
  /// The most frequent of them: ACCESS SHARE, if a private slot is all it takes. False: ask
  /// acquire_relation().
  [[nodiscard]] bool try_share_relation(RelationId relation) noexcept;
  Result<Acquired> acquire_relation(RelationId relation, RelationMode mode, LockWait wait = {});

  [[nodiscard]] KeyMode held(LockId id) const noexcept;
  [[nodiscard]] TableMode held_table(TreeId tree) const noexcept;
  [[nodiscard]] TableMode held_database() const noexcept;

  /// Trades this owner's many read locks in `tree` for one on the table, if there are more than
  /// the threshold and nobody objects. What it has written stays locked key by key: others may go
  /// on beside a writer of much, and it has its undo records to carry anyway. acquire() and
  /// acquire_table() do it by themselves; a scan that only uses try_acquire() calls it between
  /// leaves. Never waits.
  void escalate_if_due(TreeId tree);

  /// All that it has but for its lock on itself.
  [[nodiscard]] std::vector<HeldLock> held_locks() const;
  /// Takes one of these, as another owner had it. 55P03 if somebody is in the way; never waits.
  Result<> retake(const HeldLock& lock);

  [[nodiscard]] LockMark mark() const noexcept { return LockMark{ordinal_}; }
  /// The same; release_last() leaves what is older.
  LockMark savepoint() noexcept {
    savepoint_ = ordinal_;
    return mark();
  }
  /// Gives up what was acquired after `mark`, newest first, except intents that were granted
  /// privately and table locks that replaced key locks: those stay until release_all(). For
  /// statement and savepoint rollback, after the changes have been undone.
  void release_to(LockMark mark) noexcept;

  /// The end of the transaction. `commit_lsn` is the LSN of the commit record in the log buffer
  /// (early lock release: it need not be durable), Lsn::none after a rollback or without changes.
  /// Pre: a rollback has undone all changes.
  void release_all(Lsn commit_lsn) noexcept;

  /// The highest commit LSN this transaction may have read from. Whoever acknowledges it, even if
  /// it wrote nothing, first makes sure that the log is durable up to here. Valid until begin().
  [[nodiscard]] Lsn read_watermark() const noexcept { return watermark_; }
  /// The transaction has read what was committed at `commit_lsn` without a lock that says so: under
  /// Access::key_shared others change what stands under the key.
  void note_read(Lsn commit_lsn) noexcept { watermark_ = std::max(watermark_, commit_lsn); }

  /// Makes the wait in progress, and every later one, fail with 57014 until clear_cancel().
  /// Callable from any thread while the owner exists.
  void cancel() noexcept;
  void clear_cancel() noexcept;

  /// How long a request waits before it looks for a deadlock. Zero: at once.
  void set_deadlock_timeout(Duration timeout) noexcept { deadlock_timeout_ = timeout; }

  [[nodiscard]] std::size_t locks_held() const noexcept {
    return held_count_ + (own_ != nullptr ? 1U : 0U);
  }
  /// The next lock of the transaction has this number; for tests of the last one.
  void number_from(std::uint32_t ordinal) noexcept { ordinal_ = ordinal - 1; }
  [[nodiscard]] std::size_t private_bytes() const noexcept { return held_.bytes(); }

 private:
  /// The owner's own record of its locks on a table or the database.
  struct TableRecord {
    LockName name;
    TableMode total = TableMode::none;    // of the slot and the entries
    TableMode in_slot = TableMode::none;  // none: no slot
    std::uint8_t slot = 0;
    std::uint32_t read_locks = 0;  // keys under which nothing is, or may be, written
    std::uint32_t escalate_at = 0;
  };

  // The life of an entry: make, append, perhaps wait, keep; forget, discard.
  Entry& make_entry(const LockName& name, ModeCode mode, Entry* older);
  Appended append(Entry& entry) noexcept;
  /// The end of a wait without an error.
  enum class WaitEnd : std::uint8_t { granted, gives_way };
  /// `entry` is another one afterwards if the request went to the end of its queue.
  Result<Acquired> request(Entry*& entry, LockWait wait);
  Result<WaitEnd> wait_for(Entry& entry, TimePoint deadline);
  Result<WaitEnd> wait_published(Entry& entry, TimePoint deadline);
  [[nodiscard]] bool is_waited_for(const Entry& waiting) const noexcept;
  void keep(Entry& entry) noexcept;
  void forget(Entry& entry) noexcept;
  void discard(Entry& entry, Lsn commit_lsn) noexcept;

  Result<Acquired> acquire_new(const LockName& name, ModeCode mode, Entry* older, LockWait wait);
  bool try_new(const LockName& name, ModeCode mode, Entry* older);
  Result<Acquired> wait_for_room(Entry* entry, LockWait wait);
  Result<Acquired> acquire_whole(TableRecord& record, TableMode mode, LockWait wait);
  [[nodiscard]] Lsn tag_for(const Entry& entry) const noexcept;

  [[nodiscard]] TableRecord fresh_record(const LockName& name) const noexcept;
  bool try_intent_slot(TableRecord& record, TableMode mode) noexcept;
  void withdraw_intent(std::atomic<IntentSlot>& slot, IntentSlot with, IntentSlot before) noexcept;
  void clear_intent_slots() noexcept;

  /// The newest entry of a key was `before` and is `after`; null: there is none.
  static void count_read_lock(TableRecord& record, const Entry* before,
                              const Entry* after) noexcept;
  TableRecord& record_of(const LockName& name);
  [[nodiscard]] const TableRecord* find_record(const LockName& name) const noexcept {
    const std::size_t place = place_of(name);
    return place < tables_.size() ? &tables_[place] : nullptr;
  }
  /// In tables_; their number where it is not among them.
  [[nodiscard]] std::size_t place_of(const LockName& name) const noexcept {
    const std::size_t last = last_places_[raw(name.tree()) % kLastPlaces];
    if (last < tables_.size() && tables_[last].name == name) [[likely]]
      return last;
    if (tables_.size() > kFewTables) return place_among_many(name);
    return static_cast<std::size_t>(std::ranges::find(tables_, name, &TableRecord::name) -
                                    tables_.begin());
  }
  [[nodiscard]] std::size_t place_among_many(const LockName& name) const noexcept;
  void add_place(std::size_t place) noexcept;
  void make_places_room();
  void escalate(TableRecord& record);
  [[nodiscard]] bool is_read_lock(const Entry& entry, TreeId tree) const noexcept;
  void drop_read_locks(TreeId tree) noexcept;

  LockManagerParts& parts_;
  Seat& seat_;
  EntryArena arena_;
  PrivateTable held_;
  std::vector<TableRecord> tables_;
  /// From so many on their places are found by a hash of their names.
  static constexpr std::size_t kFewTables = 16;
  /// Of tables_, plus one; 0: none. Open addressing, at most half full.
  std::vector<std::uint32_t> places_;
  // Where trees whose numbers have such a remainder were found last: a transaction goes to and fro
  // between a few, which were mostly made one after another.
  static constexpr std::uint32_t kLastPlaces = 16;
  std::array<std::uint32_t, kLastPlaces> last_places_{};
  Entry* newest_ = nullptr;  // linked by Entry::previous
  Entry* own_ = nullptr;     // of the transaction; not among those
  std::uint16_t own_turn_ = 0;
  std::size_t held_count_ = 0;
  std::uint32_t ordinal_ = 0;
  std::uint32_t savepoint_ = 0;
  std::uint32_t slots_used_ = 0;
  Escalation escalation_ = Escalation::never;
  Lsn watermark_ = Lsn::none;
  Duration deadlock_timeout_ = Duration::zero();
  const std::string* doing_ = nullptr;
  const bool may_use_slots_;
};

}  // namespace swizzle::lock
