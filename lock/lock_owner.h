#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// The locks of one transaction at a time. Used by one thread or fiber at a time, except cancel().
/// Reusing an owner is cheap; a session keeps one.
///
/// Errors of all functions that may wait: 40P01 deadlock (the detail lists the cycle), 55P03 lock
/// timeout or NOWAIT, 57014 cancelled. A failed request leaves nothing queued, and the owner keeps
/// its earlier locks.
class LockOwner {
 public:
  explicit LockOwner(LockManager& manager);
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;
  /// Pre: nothing is held.
  ~LockOwner();

  /// Lock escalation: with `when_due`, an owner's many read locks in a table may become one on the
  /// table, which makes its writers wait.
  enum class Escalation : std::uint8_t { never, when_due };
  /// Starts a transaction. The greater number is the younger transaction; TxnId::none is the
  /// youngest. Pre: nothing is held. Post: the read watermark is Lsn::none.
  void begin(TxnId txn, Escalation escalation = Escalation::never) noexcept;

  /// Sets the running transaction's number, which it gets at its first write.
  void identify(TxnId txn) noexcept;

  /// Sets the owner's client, for the views and deadlock reports, and a text that describes its
  /// current activity, or null. The owner reads `doing` when it begins to wait. `doing` outlives
  /// the owner or the next call.
  void work_for(OwnerLabel label, const std::string* doing) noexcept;

  /// May wait. Pre: no latch is held.
  Result<Acquired> acquire(LockId id, KeyMode mode, LockWait wait = {});

  /// Never waits, so it may be called under a latch. On failure nothing is left behind.
  [[nodiscard]] bool try_acquire(LockId id, KeyMode mode);

  /// Prefetches the memory that a request for `id` will read.
  void prefetch(LockId id) const noexcept;
  /// Second step, some time later: prefetches what the memory of the first refers to.
  void prefetch_entries(LockId id) const noexcept;

  /// True if the locks of other owners permit `mode` now; takes no lock. An insert asks it for the
  /// gap after the predecessor (kInsertIntoGap) under the leaf's exclusive latch, which keeps
  /// readers from making a new gap lock valid. May be called under a latch.
  [[nodiscard]] bool is_free(LockId id, KeyMode mode) const noexcept;
  [[nodiscard]] bool gap_is_free(LockId id) const noexcept { return is_free(id, kInsertIntoGap); }

  /// Waits in the queue until is_free() would be true, and keeps no lock. The caller descends and
  /// checks again. May wait.
  Result<Acquired> wait_until_free(LockId id, KeyMode mode, LockWait wait = {});

  /// Locks the transaction itself (as PostgreSQL locks its xid), so that others can wait for rows
  /// that it changed without key locks. Stores the new lock in `published` and releases the
  /// previous one; waiters for that check again. Held until release_all(). Never waits. Pre: the
  /// transaction has its number.
  void lock_transaction(std::atomic<TransactionLock>& published);
  /// Waits until the transaction's owner has released the lock, and keeps nothing. May wait.
  Result<Acquired> wait_for_transaction(TransactionLock of, LockWait wait = {});
  /// Releases the newest acquisition, if it is of this key, `covered` includes its mode, and no
  /// savepoint() lies between.
  void release_last(LockId id, KeyMode covered) noexcept;

  /// Intents are usually granted without touching shared memory. May wait.
  Result<Acquired> acquire_table(TreeId tree, TableMode mode, LockWait wait = {});
  /// True if acquire_table() would have nothing to do, as for all rows of a transaction but the
  /// first.
  [[nodiscard]] bool has_table(TreeId tree, TableMode mode) const noexcept {
    const TableRecord* const record = find_record({0, tree, Scope::table});
    return record != nullptr && implies(record->total, mode) &&
           record->read_locks < record->escalate_at;
  }
  Result<Acquired> acquire_database(TableMode mode, LockWait wait = {});

  /// PostgreSQL's locks on a relation. The three weakest use the private path of intents.
  /// Takes the most frequent one, ACCESS SHARE, if a private slot suffices. False: call
  /// acquire_relation().
  [[nodiscard]] bool try_share_relation(RelationId relation) noexcept;
  Result<Acquired> acquire_relation(RelationId relation, RelationMode mode, LockWait wait = {});
  /// Waits until every other owner that has, or has asked for, a lock on the relation that excludes
  /// `mode` has released it, and keeps nothing. Later requests do not wait for this one. Post: the
  /// read watermark covers the commits of those owners. May wait. Pre: SHARE or ACCESS EXCLUSIVE.
  Result<Acquired> wait_for_holders(RelationId relation, RelationMode mode, LockWait wait = {});

  [[nodiscard]] KeyMode held(LockId id) const noexcept;
  [[nodiscard]] TableMode held_table(TreeId tree) const noexcept;
  [[nodiscard]] TableMode held_database() const noexcept;

  /// Lock escalation: replaces this owner's read locks in `tree` by one on the table, if there are
  /// more than the threshold and no other owner is in the way. Locks of written keys stay, so that
  /// a large write does not stop other writers; its undo records need memory anyway. acquire() and
  /// acquire_table() call it; a scan that only uses try_acquire() calls it between leaves. Never
  /// waits.
  void escalate_if_due(TreeId tree);

  /// Returns all locks except the one on the transaction itself.
  [[nodiscard]] std::vector<HeldLock> held_locks() const;
  /// Takes a lock that another owner had. 55P03 if an owner is in the way; never waits.
  Result<> retake(const HeldLock& lock);

  [[nodiscard]] LockMark mark() const noexcept { return LockMark{ordinal_}; }
  /// Like mark(), and release_last() does not release what is older.
  LockMark savepoint() noexcept {
    savepoint_ = ordinal_;
    return mark();
  }
  /// Releases the locks acquired after `mark`, newest first, except table locks that replaced key
  /// locks: those stay until release_all(). For statement and savepoint rollback, after the changes
  /// have been undone.
  void release_to(LockMark mark) noexcept;

  /// Ends the transaction. `commit_lsn` is the LSN of the commit record in the log buffer (early
  /// lock release: it need not be durable), Lsn::none after a rollback or without changes. Pre: a
  /// rollback has undone all changes.
  void release_all(Lsn commit_lsn) noexcept;

  /// The highest commit LSN this transaction may have read from. Before it is acknowledged, even if
  /// it wrote nothing, the log must be durable up to here. Valid until begin().
  [[nodiscard]] Lsn read_watermark() const noexcept { return watermark_; }
  /// Notes a read of a change committed at `commit_lsn` for which no lock's tag stands: under
  /// Access::key_shared other transactions may change the key's value.
  void note_read(Lsn commit_lsn) noexcept { watermark_ = std::max(watermark_, commit_lsn); }

  /// Makes the wait in progress, and every later one, fail with 57014 until clear_cancel().
  /// Callable from any thread while the owner exists.
  void cancel() noexcept;
  void clear_cancel() noexcept;

  /// Sets how long a request waits before it searches for a deadlock. Zero: at once.
  void set_deadlock_timeout(Duration timeout) noexcept { deadlock_timeout_ = timeout; }

  [[nodiscard]] std::size_t locks_held() const noexcept {
    return held_count_ + (own_ != nullptr ? 1U : 0U);
  }
  /// Sets the number of the transaction's next lock; for tests of the last one.
  void number_from(std::uint32_t ordinal) noexcept { ordinal_ = ordinal - 1; }
  [[nodiscard]] std::size_t private_bytes() const noexcept { return held_.bytes(); }

 private:
  /// The owner's private record of its locks on a table or the database.
  struct TableRecord {
    LockName name;
    TableMode total = TableMode::none;    // of the slot and the entries
    TableMode in_slot = TableMode::none;  // none: no slot
    std::uint8_t slot = 0;
    std::uint32_t read_locks = 0;  // keys under which nothing is, or may be, written
    std::uint32_t escalate_at = 0;
  };

  static constexpr std::uint32_t kLastOrdinal = std::numeric_limits<std::uint32_t>::max();

  // The life of an entry: make, append, perhaps wait, keep; forget, discard.
  Entry& make_entry(const LockName& name, ModeCode mode, Entry* older);
  Appended append(Entry& entry) noexcept;
  /// The end of a wait without an error.
  enum class WaitEnd : std::uint8_t { granted, gives_way };
  /// Replaces `entry` if the request went to the end of its queue.
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
  /// Releases the intents of slots that were granted after the lock with this number, and narrows
  /// those that were widened after it.
  void release_slots_to(std::uint32_t ordinal) noexcept;
  /// Notes that the owner has given back what a slot said about a table.
  void note_in_slot(const LockName& name, TableMode mode) noexcept;

  /// Adjusts the count when a key's newest entry, which was `before`, is `after`; null: none.
  static void count_read_lock(TableRecord& record, const Entry* before,
                              const Entry* after) noexcept;
  TableRecord& record_of(const LockName& name);
  [[nodiscard]] const TableRecord* find_record(const LockName& name) const noexcept {
    const std::size_t place = place_of(name);
    return place < tables_.size() ? &tables_[place] : nullptr;
  }
  /// Returns the position in tables_, or tables_.size() if it is not there.
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
  /// From this many tables on a hash table finds their positions.
  static constexpr std::size_t kFewTables = 16;
  /// Positions in tables_, plus one; 0: free. Open addressing, at most half full.
  std::vector<std::uint32_t> places_;
  // Cache of positions in tables_, by the tree's number modulo its size. A transaction alternates
  // between a few trees, which were mostly created one after another, so they seldom collide.
  static constexpr std::uint32_t kLastPlaces = 16;
  std::array<std::uint32_t, kLastPlaces> last_places_{};
  Entry* newest_ = nullptr;  // linked by Entry::previous
  Entry* own_ = nullptr;     // of the transaction; not among those
  std::uint16_t own_turn_ = 0;
  std::size_t held_count_ = 0;
  std::uint32_t ordinal_ = 0;
  std::uint32_t savepoint_ = 0;
  std::uint32_t slots_used_ = 0;
  /// Numbers of the locks that a slot's intent stands for: of the first one, and of the one that
  /// widened it from shared to exclusive; 0: it was not.
  struct SlotAge {
    std::uint32_t granted = 0;
    std::uint32_t widened = 0;
  };
  std::array<SlotAge, Seat::kIntentSlots> slot_ages_{};
  std::uint32_t last_in_slot_ = 0;  ///< number of the last lock that went into a slot
  Escalation escalation_ = Escalation::never;
  Lsn watermark_ = Lsn::none;
  Duration deadlock_timeout_ = Duration::zero();
  const std::string* doing_ = nullptr;
  const bool may_use_slots_;
};

}  // namespace swizzle::lock
