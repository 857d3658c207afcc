#include "storage/txn/versions/transaction_registry.h"

#include <algorithm>
#include <utility>

#include "base/runtime/spin_wait.h"
#include "storage/txn/versions/snapshot_pause.h"

namespace swizzle {

TransactionRegistry::TransactionRegistry(wal::Log& log)
    : log_(log),
      slots_(std::make_unique<std::array<TransactionSlot, kSlots>>()),
      changes_(std::make_unique<std::array<ChangedTrees, kSlots>>()) {
  for (std::size_t i = 0; i < kSlots; ++i) (*slots_)[i].chain.changes = &(*changes_)[i];
  free_reserved_.reserve(kReservedSlots);
  for (std::size_t i = kOrdinarySlots; i < kSlots; ++i) free_reserved_.push_back(&(*slots_)[i]);
}

TransactionSlot* TransactionRegistry::take_slot() {
  const std::lock_guard hold(free_mutex_);
  const std::uint32_t index = used_slots_.load(std::memory_order_relaxed);
  if (index >= kOrdinarySlots) return nullptr;
  used_slots_.store(index + 1, std::memory_order_release);
  return &(*slots_)[index];
}

TransactionSlot* TransactionRegistry::take_reserved_slot(TransactionPlace place) {
  if (place == TransactionPlace::ordinary) return nullptr;
  const std::size_t stay = place == TransactionPlace::internal ? 0 : kInternalSlots;
  const std::lock_guard hold(free_mutex_);
  if (free_reserved_.size() <= stay) return nullptr;
  TransactionSlot* const slot = free_reserved_.back();
  free_reserved_.pop_back();
  used_slots_.store(kSlots, std::memory_order_release);
  return slot;
}

void TransactionRegistry::give_reserved_slot(TransactionSlot& slot) noexcept {
  const std::lock_guard hold(free_mutex_);
  free_reserved_.push_back(&slot);
}

void TransactionRegistry::begin_writing(TransactionSlot& slot) noexcept {
  // seq_cst, before the first append: a reader that took its end of the log before this store will
  // find all our records after that end; a reader that takes it later finds the slot.
  const std::uint64_t tail = std::max<std::uint64_t>(raw(log_.tail()), 1);
  snapshot_pause();
  slot.begin.store(tail, std::memory_order_seq_cst);
  snapshot_pause();
}

Lsn TransactionRegistry::last_synchronous_before(Lsn commit) const noexcept {
  Lsn last = Lsn::none;
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const TransactionSlot& slot = (*slots_)[i];
    if (slot.begin.load(std::memory_order_seq_cst) == 0) continue;
    // seq_cst: a transaction with a record before ours had announced its commit before it appended
    // that record.
    std::uint64_t outcome = slot.outcome.load(std::memory_order_seq_cst);
    for (SpinWait wait; outcome == UndoLog::kCommitting;) {
      wait.once();
      outcome = slot.outcome.load(std::memory_order_seq_cst);
    }
    if (outcome == UndoLog::kActive || Lsn{outcome} >= commit) continue;
    // Written before the outcome, so it is valid.
    if (slot.is_asynchronous.load(std::memory_order_relaxed)) continue;
    last = std::max(last, Lsn{outcome});
  }
  return last;
}

void TransactionRegistry::acknowledge_asynchronous(Lsn commit, Lsn commit_end) noexcept {
  if (log_.enabled() && log_.durable() < commit) {
    const Lsn last = last_synchronous_before(commit);
    if (last != Lsn::none) log_.flush_to(Lsn{raw(last) + 1});
  }
  std::uint64_t known = asynchronous_end_.load(std::memory_order_relaxed);
  while (known < raw(commit_end) && !asynchronous_end_.compare_exchange_weak(
                                        known, raw(commit_end), std::memory_order_seq_cst)) {
  }
}

Lsn TransactionRegistry::durable_end() const noexcept {
  return log_.enabled() ? log_.durable() : log_.tail();
}

Lsn TransactionRegistry::visible_end() const noexcept {
  return Lsn{std::max(raw(durable_end()), asynchronous_end_.load(std::memory_order_acquire))};
}

Lsn TransactionRegistry::all_visible_below(Lsn end) const noexcept {
  std::uint64_t all_visible_lsn = raw(end);
  snapshot_pause();
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t begin = (*slots_)[i].begin.load(std::memory_order_seq_cst);
    if (begin != 0) all_visible_lsn = std::min(all_visible_lsn, begin);
  }
  return Lsn{all_visible_lsn};
}

/// Returns the all-visible LSN below `end`. An all-visible LSN stays all-visible, so the answer
/// from an earlier call is correct too, though perhaps a little low: while the end has not moved,
/// only transactions that were acknowledged since could raise it. A transaction takes many
/// snapshots between two ends, and if there are many transactions, visiting all slots for each
/// snapshot costs more than the reads.
Lsn TransactionRegistry::all_visible_below(Lsn end, TransactionSlot& slot) const noexcept {
  constexpr std::uint32_t kMostUses = 32;
  if (end == slot.all_visible_end &&
      (slot.all_visible_lsn == end || slot.all_visible_uses < kMostUses)) {
    ++slot.all_visible_uses;
    return slot.all_visible_lsn;
  }
  slot.all_visible_lsn = all_visible_below(end);
  slot.all_visible_end = end;
  slot.all_visible_uses = 0;
  return slot.all_visible_lsn;
}

void TransactionRegistry::take_snapshot(ReadView& view, TransactionSlot& slot, Lsn seen) noexcept {
  const bool keeps_already = slot.snapshot.load(std::memory_order_relaxed) != 0;
  // Until the real moment is known, any older one will do, since it keeps more versions. Before the
  // end is read, needed_versions() must see that a view is being taken.
  if (!keeps_already)
    slot.snapshot.store(1, std::memory_order_seq_cst);
  else
    slot.newest_view.store(UINT64_MAX, std::memory_order_seq_cst);
  snapshot_pause();
  // The all-visible LSN is computed below an end that is taken before it, and the snapshot's own
  // end after it, so all writers below it have committed below the snapshot.
  const Lsn all_visible_lsn = all_visible_below(visible_end(), slot);
  snapshot_pause();
  // A transaction learns of a commit through a lock only when the commit's record is in the log: it
  // is below the tail.
  const Lsn known = seen == Lsn::none ? seen : Lsn{raw(seen) + 1};
  const Lsn end =
      view.sees == ReadView::Sees::latest ? log_.tail() : std::max(visible_end(), known);
  snapshot_pause();
  // Published by the store of the snapshot below. If the slot keeps a snapshot already, an older
  // value keeps more.
  slot.newest_view.store(raw(end), std::memory_order_relaxed);
  if (!keeps_already) {
    slot.next_id.store(peek_next_id(), std::memory_order_relaxed);
    slot.snapshot.store(std::max<std::uint64_t>(raw(end), 1), std::memory_order_release);
  }
  view.lsn = end;
  view.all_visible_lsn = all_visible_lsn;
  view.is_taken = true;
}

Lsn TransactionRegistry::version_horizon() const noexcept {
  for (;;) {
    const std::uint64_t adoptions = adoptions_.load(std::memory_order_seq_cst);
    std::uint64_t horizon = raw(durable_end());
    const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
      // A snapshot with kTooOld is above every LSN.
      const std::uint64_t snapshot = (*slots_)[i].snapshot.load(std::memory_order_seq_cst);
      if (snapshot != 0) horizon = std::min(horizon, snapshot);
    }
    if (adoptions_.load(std::memory_order_seq_cst) == adoptions) [[likely]]
      return Lsn{horizon};
  }
}

bool NeededVersions::has_view_between(Lsn made, Lsn replaced) const noexcept {
  if (!is_known || replaced >= durable) return true;
  // A view at `made` does not see what was committed there, and one at `replaced` does not see the
  // replacement.
  return std::ranges::any_of(views, [&](const Views& one) {
    return one.newest > raw(made) && one.oldest <= raw(replaced);
  });
}

NeededVersions TransactionRegistry::needed_versions() const {
  NeededVersions needed;
  for (;;) {
    const std::uint64_t adoptions = adoptions_.load(std::memory_order_seq_cst);
    needed.views.clear();
    needed.is_known = true;
    // Read first: views that are taken from now on show all commits below it.
    needed.durable = durable_end();
    snapshot_pause();
    const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
      const TransactionSlot& slot = (*slots_)[i];
      const std::uint64_t oldest = slot.snapshot.load(std::memory_order_seq_cst);
      if (oldest == 0 || (oldest & TransactionSlot::kTooOld) != 0) continue;
      if (oldest == 1) needed.is_known = false;
      snapshot_pause();
      const std::uint64_t newest = slot.newest_view.load(std::memory_order_seq_cst);
      needed.views.push_back({oldest, std::max(oldest, newest)});
    }
    if (adoptions_.load(std::memory_order_seq_cst) == adoptions) [[likely]]
      return needed;
  }
}

void TransactionRegistry::adopt_snapshot(TransactionSlot& slot, Lsn at) noexcept {
  const bool has_older = slot.snapshot.load(std::memory_order_relaxed) != 0;
  const std::uint64_t newest = has_older ? slot.newest_view.load(std::memory_order_relaxed) : 0;
  slot.newest_view.store(std::max(newest, raw(at)), std::memory_order_relaxed);
  slot.next_id.store(peek_next_id(), std::memory_order_relaxed);
  slot.snapshot.store(std::max<std::uint64_t>(raw(at), 1), std::memory_order_seq_cst);
  // After the store, and before the other slot stops keeping the versions: see version_horizon().
  adoptions_.fetch_add(1, std::memory_order_seq_cst);
}

bool TransactionRegistry::has_writer_below(TxnId id) const noexcept {
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const TransactionSlot& slot = (*slots_)[i];
    // `begin` is set before the number is taken, and stays until everything is acknowledged.
    if (slot.begin.load(std::memory_order_seq_cst) == 0) continue;
    const TxnId own = slot.chain.id.load(std::memory_order_acquire);
    if (slot.is_prepared_empty.load(std::memory_order_relaxed)) continue;
    if (own == TxnId::none || own < id) return true;
  }
  return false;
}

Lsn TransactionRegistry::oldest_snapshot() const noexcept {
  std::uint64_t oldest = raw(version_horizon());
  for (const Held& held : held_snapshots()) oldest = std::min(oldest, raw(held.snapshot));
  return Lsn{oldest};
}

bool TransactionRegistry::give_up_oldest() noexcept {
  // A snapshot at the end of the log keeps no versions.
  std::uint64_t oldest = raw(durable_end());
  TransactionSlot* of = nullptr;
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    TransactionSlot& slot = (*slots_)[i];
    const std::uint64_t snapshot = slot.snapshot.load(std::memory_order_seq_cst);
    // 1 means that the snapshot is being taken: it will be at the end of the log.
    if (snapshot > 1 && snapshot < oldest) {
      oldest = snapshot;
      of = &slot;
    }
  }
  if (of == nullptr) return false;
  // Marked before the versions go. If the exchange fails the snapshot has ended.
  if (of->snapshot.compare_exchange_strong(oldest, oldest | TransactionSlot::kTooOld,
                                           std::memory_order_seq_cst))
    given_up_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::vector<TransactionRegistry::Held> TransactionRegistry::held_snapshots() const {
  std::vector<Held> all;
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const TransactionSlot& slot = (*slots_)[i];
    const std::uint64_t snapshot = slot.snapshot.load(std::memory_order_seq_cst);
    if (snapshot == 0) continue;
    all.push_back(
        {slot.label.load(std::memory_order_relaxed), Lsn{snapshot & ~TransactionSlot::kTooOld},
         (snapshot & TransactionSlot::kTooOld) != 0, slot.next_id.load(std::memory_order_relaxed)});
  }
  return all;
}

std::vector<WritingTransaction> TransactionRegistry::writers() const {
  std::vector<WritingTransaction> all;
  const std::uint64_t tail = raw(log_.tail());
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const TransactionSlot& slot = (*slots_)[i];
    const TxnId id = slot.chain.id.load(std::memory_order_acquire);
    const Lsn first = slot.chain.first.load(std::memory_order_acquire);
    if (id == TxnId::none || first == Lsn::none) continue;
    const std::int32_t label = slot.label.load(std::memory_order_relaxed);
    const bool is_undoing = slot.chain.is_undoing.load(std::memory_order_relaxed);
    const bool is_prepared = slot.is_prepared.load(std::memory_order_relaxed);
    const bool has_ended = slot.outcome.load(std::memory_order_acquire) != UndoLog::kActive;
    // Another transaction has got the slot meanwhile, or nothing remains to be undone.
    if (slot.chain.id.load(std::memory_order_acquire) != id || has_ended) continue;
    all.push_back({label, id, tail > raw(first) ? tail - raw(first) : 0,
                   is_undoing    ? WritingTransaction::State::rolling_back
                   : is_prepared ? WritingTransaction::State::prepared
                                 : WritingTransaction::State::running});
  }
  return all;
}

std::vector<ActiveTransaction> TransactionRegistry::active_at(Lsn begin) const {
  std::vector<ActiveTransaction> active;
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const TransactionSlot& slot = (*slots_)[i];
    const TxnId id = slot.chain.id.load(std::memory_order_acquire);
    const Lsn first = slot.chain.first.load(std::memory_order_acquire);
    if (id == TxnId::none || first == Lsn::none || first >= begin) continue;
    std::uint64_t outcome = slot.outcome.load(std::memory_order_acquire);
    for (SpinWait wait; outcome == UndoLog::kCommitting;) {
      wait.once();
      outcome = slot.outcome.load(std::memory_order_acquire);
    }
    if (outcome != UndoLog::kActive && Lsn{outcome} < begin) continue;
    const Lsn last = slot.chain.last.load(std::memory_order_acquire);
    OpenChanges changes = slot.chain.changes->read();
    changes.undo_bytes += UndoLog::kOwedUnsaid;
    // The slot has gone to another transaction meanwhile. The one that we looked at has therefore
    // ended, and not before `begin`, so analysis will see its end.
    if (slot.chain.id.load(std::memory_order_acquire) != id) continue;
    active.push_back({id, first, last, std::move(changes)});
  }
  return active;
}

}  // namespace swizzle
