#include "lock/lock_owner.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "lock/internal/manager_parts.h"
#include "lock/internal/pause_point.h"

namespace swizzle::lock {
namespace {

constexpr std::size_t kFewLocks = 1000;
constexpr std::size_t kFetchedAhead = 12;

// Out of line, so that a granted lock pays nothing for it.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> too_many_locks() {
  return fail(sqlstate::program_limit_exceeded,
              "a transaction cannot take more than 4294967295 locks");
}

// Does `action` when it goes out of scope, unless dismissed.
template <class Action>
class Undo {
 public:
  explicit Undo(Action action) : action_(std::move(action)) {}
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (armed_) action_();
  }
  void dismiss() noexcept { armed_ = false; }

 private:
  Action action_;
  bool armed_ = true;
};

LockName key_name(const LockId& id) noexcept {
  return {id.hash, id.tree, Scope::key};
}
LockName transaction_name(TransactionLock lock) noexcept {
  return {std::to_underlying(lock), TreeId::directory, Scope::transaction};
}

}  // namespace

LockOwner::LockOwner(LockManager& manager)
    : parts_(*manager.parts_),
      seat_(parts_.seats.take()),
      arena_(parts_.pool),
      may_use_slots_(parts_.table != nullptr &&
                     parts_.options.intent_path == IntentPath::private_slots) {
  parts_.owners.fetch_add(1, std::memory_order_relaxed);
}

LockOwner::~LockOwner() {
  INVARIANT(newest_ == nullptr && own_ == nullptr && slots_used_ == 0);
  parts_.seats.leave(seat_);
  parts_.owners.fetch_sub(1, std::memory_order_relaxed);
}

void LockOwner::begin(TxnId txn, Escalation escalation) noexcept {
  INVARIANT(newest_ == nullptr && own_ == nullptr && slots_used_ == 0);
  escalation_ = escalation;
  identify(txn);
  watermark_ = Lsn::none;
}

void LockOwner::identify(TxnId txn) noexcept {
  seat_.txn.store(txn, std::memory_order_relaxed);
}

void LockOwner::work_for(OwnerLabel label, const std::string* doing) noexcept {
  seat_.label.store(label, std::memory_order_relaxed);
  doing_ = doing;
}

Result<Acquired> LockOwner::acquire(LockId id, KeyMode mode, LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  const LockName name = key_name(id);
  Entry* mine = held_.find(name);
  if (mine != nullptr && implies(mine->total, code(mode))) return Acquired::granted;
  TableRecord& record = record_of({0, id.tree, Scope::table});
  if (covers(record.total, mode)) return Acquired::granted;
  ASSIGN_OR_RETURN(const Acquired acquired, acquire_new(name, code(mode), mine, wait));
  if (acquired != Acquired::granted) return acquired;
  count_read_lock(record, mine, newest_);
  if (record.read_locks >= record.escalate_at) [[unlikely]]
    escalate(record);
  return acquired;
}

bool LockOwner::try_acquire(LockId id, KeyMode mode) {
  if (parts_.table == nullptr) return true;
  const LockName name = key_name(id);
  Entry* mine = held_.find(name);
  if (mine != nullptr && implies(mine->total, code(mode))) return true;
  TableRecord& record = record_of({0, id.tree, Scope::table});
  if (covers(record.total, mode)) return true;
  if (!try_new(name, code(mode), mine)) return false;
  // escalate_if_due() checks the count when no latch is held.
  count_read_lock(record, mine, newest_);
  return true;
}

void LockOwner::prefetch(LockId id) const noexcept {
  if (parts_.table == nullptr) return;
  const LockName name = key_name(id);
  parts_.table->prefetch(name);
  held_.prefetch(name);
}

void LockOwner::prefetch_entries(LockId id) const noexcept {
  if (parts_.table != nullptr) parts_.table->prefetch_entries(key_name(id));
}

bool LockOwner::is_free(LockId id, KeyMode mode) const noexcept {
  return parts_.table == nullptr || parts_.table->is_free(key_name(id), code(mode), &seat_);
}

Result<Acquired> LockOwner::wait_until_free(LockId id, KeyMode mode, LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  const LockName name = key_name(id);
  return wait_for_room(&make_entry(name, code(mode), held_.find(name)), wait);
}

Result<Acquired> LockOwner::wait_for_room(Entry* entry, LockWait wait) {
  ASSIGN_OR_RETURN(const Acquired acquired, request(entry, wait));
  if (acquired == Acquired::granted) discard(*entry, Lsn::none);
  return acquired;
}

void LockOwner::lock_transaction(std::atomic<TransactionLock>& published) {
  if (parts_.table == nullptr) return;
  const TxnId txn = seat_.txn.load(std::memory_order_relaxed);
  while (true) {
    const TransactionLock lock = transaction_lock(txn, ++own_turn_);
    Entry& entry = make_entry(transaction_name(lock), code(kWriteKey), nullptr);
    // No owner waits for an unpublished entry, except one that has slept while all numbers of
    // transaction locks were used.
    if (!append(entry).granted) {
      discard(entry, Lsn::none);
      continue;
    }
    published.store(lock, std::memory_order_release);
    if (own_ != nullptr) discard(*own_, Lsn::none);
    own_ = &entry;
    return;
  }
}

Result<Acquired> LockOwner::wait_for_transaction(TransactionLock of, LockWait wait) {
  if (parts_.table == nullptr) return Acquired::granted;
  return wait_for_room(&make_entry(transaction_name(of), code(kReadKey), nullptr), wait);
}

void LockOwner::release_last(LockId id, KeyMode covered) noexcept {
  const LockName name = key_name(id);
  while (newest_ != nullptr && newest_->ordinal > savepoint_ && newest_->name == name &&
         !newest_->until_end && implies(code(covered), newest_->mode)) {
    Entry* const entry = newest_;
    newest_ = entry->previous;
    // A mark that is taken next has to include all intents in slots.
    ordinal_ = std::max(entry->ordinal - 1, last_in_slot_);
    forget(*entry);
    discard(*entry, Lsn::none);
  }
}

KeyMode LockOwner::held(LockId id) const noexcept {
  const Entry* mine = held_.find(key_name(id));
  const KeyMode own = mine == nullptr ? KeyMode{} : key_mode(mine->total);
  const TableMode table = held_table(id.tree);
  if (covers(table, kWriteKeyAndGap)) return kWriteKeyAndGap;
  return covers(table, kReadKeyAndGap) ? combine(own, kReadKeyAndGap) : own;
}

Entry& LockOwner::make_entry(const LockName& name, ModeCode mode, Entry* older) {
  held_.make_room();
  Entry& entry = arena_.make();
  entry.name = name;
  entry.mode = mode;
  entry.total = older == nullptr ? mode : combine(older->total, mode);
  entry.seat = &seat_;
  entry.older_of_same_name = older;
  entry.until_end = false;
  return entry;
}

Result<Acquired> LockOwner::acquire_new(const LockName& name, ModeCode mode, Entry* older,
                                        LockWait wait) {
  if (ordinal_ == kLastOrdinal) [[unlikely]]
    return too_many_locks();
  Entry* entry = &make_entry(name, mode, older);
  ASSIGN_OR_RETURN(const Acquired acquired, request(entry, wait));
  if (acquired == Acquired::granted) keep(*entry);
  return acquired;
}

bool LockOwner::try_new(const LockName& name, ModeCode mode, Entry* older) {
  // acquire(), which the caller tries next, reports the reason.
  if (ordinal_ == kLastOrdinal) [[unlikely]]
    return false;
  Entry& entry = make_entry(name, mode, older);
  const Appended appended = append(entry);
  if (!appended.granted) {
    discard(entry, Lsn::none);
    return false;
  }
  watermark_ = std::max(watermark_, appended.tag);
  keep(entry);
  return true;
}

Result<Acquired> LockOwner::request(Entry*& entry, LockWait wait) {
  Appended appended = append(*entry);
  if (appended.granted) [[likely]] {
    watermark_ = std::max(watermark_, appended.tag);
    return Acquired::granted;
  }
  // Runs also if an allocation fails.
  Undo undo{[this, &entry] { discard(*entry, Lsn::none); }};
  if (wait.if_blocked == IfBlocked::skip) return Acquired::skipped;
  if (wait.if_blocked == IfBlocked::fail) {
    return fail(sqlstate::lock_not_available, "could not obtain lock without waiting");
  }
  const TimePoint now = Runtime::current().now();
  const TimePoint deadline =
      wait.lock_timeout == Duration::zero() || wait.lock_timeout >= TimePoint::max() - now
          ? TimePoint::max()
          : now + wait.lock_timeout;
  seat_.gave_way.store(0, std::memory_order_relaxed);
  seat_.give_way.store(nullptr, std::memory_order_relaxed);
  for (;;) {
    ASSIGN_OR_RETURN(const WaitEnd end, wait_for(*entry, deadline));
    if (end == WaitEnd::granted) break;
    Entry& last_in_queue = make_entry(entry->name, entry->mode, entry->older_of_same_name);
    discard(*std::exchange(entry, &last_in_queue), Lsn::none);
    appended = append(*entry);
    if (appended.granted) break;
  }
  undo.dismiss();
  watermark_ = std::max(watermark_, tag_for(*entry));
  return Acquired::granted;
}

void LockOwner::keep(Entry& entry) noexcept {
  INVARIANT(ordinal_ < kLastOrdinal);
  entry.ordinal = ++ordinal_;
  entry.previous = newest_;
  newest_ = &entry;
  held_.put(entry);
  ++held_count_;
}

// Only for the newest entry of its name.
void LockOwner::forget(Entry& entry) noexcept {
  held_.drop(entry);
  --held_count_;
  const Entry* older = entry.older_of_same_name;
  if (entry.name.scope() == Scope::key) {
    count_read_lock(record_of({0, entry.name.tree(), Scope::table}), &entry, older);
    return;
  }
  TableRecord& record = record_of(entry.name);
  record.total =
      combine(record.in_slot, older == nullptr ? TableMode::none : table_mode(older->total));
}

Appended LockOwner::append(Entry& entry) noexcept {
  if (!is_strong(entry.mode)) return parts_.table->append(entry);
  // Announced before the slots are read, so that an intent that is missed here sees the
  // announcement.
  parts_.strong.of(entry.name).announced.fetch_add(1, std::memory_order_seq_cst);
  pause_point(PausePoint::after_strong);
  const Appended appended = parts_.table->append(entry);
  if (parts_.intents_block(entry) || !appended.granted) return {false, Lsn::none};
  entry.state.store(EntryState::active, std::memory_order_seq_cst);
  return {true, tag_for(entry)};
}

// A lock on a whole table must know of all writes below it.
Lsn LockOwner::tag_for(const Entry& entry) const noexcept {
  return is_strong(entry.mode) ? parts_.last_released() : parts_.table->tag(entry.name);
}

void LockOwner::discard(Entry& entry, Lsn commit_lsn) noexcept {
  const LockName name = entry.name;
  if (!is_strong(entry.mode)) {
    parts_.table->remove(entry, commit_lsn);
  } else {
    auto& partition = parts_.strong.of(name);
    if (commit_lsn != Lsn::none && may_write(entry.mode)) {
      std::uint64_t seen = partition.tag.load(std::memory_order_relaxed);
      while (seen < raw(commit_lsn) && !partition.tag.compare_exchange_weak(
                                           seen, raw(commit_lsn), std::memory_order_relaxed)) {
      }
    }
    parts_.table->remove(entry, commit_lsn);
    // Publishes the tag to the intents that see no announcement any more.
    partition.announced.fetch_sub(1, std::memory_order_seq_cst);
  }
  arena_.release(entry);
}

void LockOwner::release_to(LockMark mark) noexcept {
  const auto limit = std::to_underlying(mark);
  Entry* staying = nullptr;
  while (newest_ != nullptr && newest_->ordinal > limit) {
    Entry* entry = newest_;
    newest_ = entry->previous;
    if (entry->until_end) {
      entry->previous = staying;
      staying = entry;
      continue;
    }
    forget(*entry);
    discard(*entry, Lsn::none);
  }
  while (staying != nullptr) {
    Entry* entry = staying;
    staying = entry->previous;
    entry->ordinal = limit;
    entry->previous = newest_;
    newest_ = entry;
  }
  release_slots_to(limit);
}

void LockOwner::release_all(Lsn commit_lsn) noexcept {
  if (commit_lsn != Lsn::none &&
      raw(commit_lsn) > seat_.last_released.load(std::memory_order_relaxed)) {
    // Release: an owner that locks a whole table after our release sees this LSN.
    seat_.last_released.store(raw(commit_lsn), std::memory_order_release);
  }
  // The entries of a large transaction have left the processor's caches: prefetch them.
  const bool is_large = held_count_ > kFewLocks;
  const Entry* soon = is_large ? newest_ : nullptr;
  for (std::size_t i = 0; i < kFetchedAhead && soon != nullptr; ++i) soon = soon->previous;
  while (newest_ != nullptr) {
    if (soon != nullptr) {
      parts_.table->prefetch(soon->name);
      soon = soon->previous;
    }
    Entry* entry = newest_;
    newest_ = entry->previous;
    discard(*entry, commit_lsn);
  }
  if (own_ != nullptr) discard(*std::exchange(own_, nullptr), commit_lsn);
  clear_intent_slots();
  held_.clear();
  tables_.clear();
  if (!places_.empty()) places_ = {};
  held_count_ = 0;
  own_turn_ = 0;
  ordinal_ = savepoint_ = last_in_slot_ = 0;
  arena_.trim();
}

void LockOwner::cancel() noexcept {
  // seq_cst against the waiter, which can be woken before it reads the flag.
  seat_.cancelled.store(true, std::memory_order_seq_cst);
  seat_.wake();
}

void LockOwner::clear_cancel() noexcept {
  seat_.cancelled.store(false, std::memory_order_relaxed);
}

}  // namespace swizzle::lock
