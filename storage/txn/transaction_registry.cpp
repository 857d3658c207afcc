#include "storage/txn/transaction_registry.h"

#include <algorithm>

#include "base/runtime.h"

namespace swizzle {

TransactionRegistry::TransactionRegistry(wal::Log& log)
    : log_(log), slots_(std::make_unique<std::array<TransactionSlot, kSlots>>()) {}

TransactionSlot* TransactionRegistry::take_slot() {
  const std::lock_guard hold(free_mutex_);
  if (!free_.empty()) {
    TransactionSlot* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const std::uint32_t index = used_slots_.load(std::memory_order_relaxed);
  if (index == kSlots) return nullptr;
  used_slots_.store(index + 1, std::memory_order_release);
  return &(*slots_)[index];
}

void TransactionRegistry::give_slot(TransactionSlot& slot) noexcept {
  const std::lock_guard hold(free_mutex_);
  free_.push_back(&slot);
}

void TransactionRegistry::begin_writing(TransactionSlot& slot) noexcept {
  // seq_cst, before the first append: a reader that took its end of the log before this store will
  // find all our records behind that end; a reader that takes it later finds the slot.
  slot.begin.store(std::max<std::uint64_t>(raw(log_.tail()), 1), std::memory_order_seq_cst);
}

void TransactionRegistry::acknowledge_asynchronous(Lsn commit_end) noexcept {
  std::uint64_t known = asynchronous_end_.load(std::memory_order_relaxed);
  while (known < raw(commit_end) && !asynchronous_end_.compare_exchange_weak(
                                        known, raw(commit_end), std::memory_order_seq_cst)) {
  }
}

Lsn TransactionRegistry::visible_end() const noexcept {
  const std::uint64_t durable = raw(log_.enabled() ? log_.durable() : log_.tail());
  return Lsn{std::max(durable, asynchronous_end_.load(std::memory_order_acquire))};
}

Lsn TransactionRegistry::quiet_below(Lsn end) const noexcept {
  std::uint64_t quiet = raw(end);
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t begin = (*slots_)[i].begin.load(std::memory_order_seq_cst);
    if (begin != 0) quiet = std::min(quiet, begin);
  }
  return Lsn{quiet};
}

Snapshot TransactionRegistry::take_snapshot(TransactionSlot& slot) noexcept {
  // Any older moment will do while the real one is looked up: it keeps more.
  slot.snapshot.store(1, std::memory_order_seq_cst);
  // Quiet is computed below an end that is taken before it, and the snapshot's own end after it, so
  // all who wrote below quiet have committed below the snapshot.
  const Lsn quiet = quiet_below(visible_end());
  const Lsn end = visible_end();
  slot.snapshot.store(std::max<std::uint64_t>(raw(end), 1), std::memory_order_release);
  return {end, quiet};
}

Lsn TransactionRegistry::version_horizon() const noexcept {
  std::uint64_t horizon = raw(visible_end());
  const std::uint32_t used = used_slots_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t snapshot = (*slots_)[i].snapshot.load(std::memory_order_seq_cst);
    if (snapshot != 0) horizon = std::min(horizon, snapshot);
  }
  return Lsn{horizon};
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
    while (outcome == UndoLog::kCommitting) {
      Runtime::current().relax();
      outcome = slot.outcome.load(std::memory_order_acquire);
    }
    if (outcome != UndoLog::kActive && Lsn{outcome} < begin) continue;
    const Lsn last = slot.chain.last.load(std::memory_order_acquire);
    // The slot went to another transaction meanwhile: the one we looked at has ended, and not
    // before `begin`, so analysis will see its end.
    if (slot.chain.id.load(std::memory_order_acquire) != id) continue;
    active.push_back({id, first, last});
  }
  return active;
}

}  // namespace swizzle
