#include "storage/txn/transaction_pool.h"

#include <mutex>

#include "storage/engine_parts.h"

namespace swizzle {
namespace {

std::size_t thread_ordinal() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t ordinal = next.fetch_add(1, std::memory_order_relaxed);
  return ordinal;
}

}  // namespace

TransactionPool::~TransactionPool() = default;

TransactionPool::Shard& TransactionPool::own_shard() noexcept {
  return shards_[thread_ordinal() % kShards];
}

std::unique_ptr<TransactionState> TransactionPool::take_state() {
  Shard& shard = own_shard();
  {
    const std::lock_guard hold(shard.mutex);
    if (!shard.states.empty()) {
      auto state = std::move(shard.states.back());
      shard.states.pop_back();
      return state;
    }
  }
  TransactionSlot* slot = engine_.registry->take_slot();
  if (slot == nullptr) return nullptr;
  return std::make_unique<TransactionState>(engine_, *slot, engine_.locks);
}

void TransactionPool::give_state(std::unique_ptr<TransactionState> state) {
  Shard& shard = own_shard();
  const std::lock_guard hold(shard.mutex);
  shard.states.push_back(std::move(state));
}

std::unique_ptr<UndoLog> TransactionPool::take_undo() {
  Shard& shard = own_shard();
  {
    const std::lock_guard hold(shard.mutex);
    if (!shard.undo_logs.empty()) {
      auto undo = std::move(shard.undo_logs.back());
      shard.undo_logs.pop_back();
      return undo;
    }
  }
  return std::make_unique<UndoLog>();
}

void TransactionPool::give_undo(std::unique_ptr<UndoLog> undo) {
  undo->clear();
  Shard& shard = own_shard();
  const std::lock_guard hold(shard.mutex);
  shard.undo_logs.push_back(std::move(undo));
}

void TransactionPool::retire_undo(std::unique_ptr<UndoLog> undo) {
  Shard& shard = own_shard();
  bool is_due = false;
  {
    const std::lock_guard hold(shard.mutex);
    const std::uint64_t bytes =
        shard.retained_bytes.fetch_add(undo->bytes(), std::memory_order_relaxed) + undo->bytes();
    shard.retained.push_back(std::move(undo));
    is_due = shard.retained.size() >= shard.reclaim_at || bytes >= shard.reclaim_at_bytes;
  }
  if (!is_due) return;
  const Lsn horizon = engine_.registry->version_horizon();
  reclaim(shard, horizon);
  reclaim(next_shard(), horizon);
}

TransactionPool::Shard& TransactionPool::next_shard() noexcept {
  return shards_[helped_.fetch_add(1, std::memory_order_relaxed) % kShards];
}

void TransactionPool::reclaim() noexcept {
  const Lsn horizon = engine_.registry->version_horizon();
  for (Shard& shard : shards_) reclaim(shard, horizon);
}

void TransactionPool::reclaim(Shard& shard, Lsn horizon) noexcept {
  while (true) {
    std::unique_ptr<UndoLog> undo;
    {
      const std::lock_guard hold(shard.mutex);
      const bool none =
          shard.retained.empty() ||
          Lsn{shard.retained.front()->outcome.load(std::memory_order_relaxed)} >= horizon;
      if (none) {
        // While an old snapshot holds everything, look again only after as many have come again.
        shard.reclaim_at = shard.retained.size() + kBatch;
        shard.reclaim_at_bytes = shard.retained_bytes.load(std::memory_order_relaxed) + kBatchBytes;
        return;
      }
      undo = std::move(shard.retained.front());
      shard.retained.pop_front();
      shard.retained_bytes.fetch_sub(undo->bytes(), std::memory_order_relaxed);
    }
    for (UndoRecord* record = undo->newest(); record != nullptr; record = record->previous)
      engine_.versions.remove(*record);
    undo->clear();
    const std::lock_guard hold(shard.mutex);
    if (shard.undo_logs.size() < kBatch * 2) shard.undo_logs.push_back(std::move(undo));
  }
}

std::uint64_t TransactionPool::retained_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.retained_bytes.load(std::memory_order_relaxed);
  return bytes;
}

std::uint64_t TransactionPool::commits() const noexcept {
  std::uint64_t count = 0;
  for (const Shard& shard : shards_) count += shard.commits.load(std::memory_order_relaxed);
  return count;
}

std::uint64_t TransactionPool::rollbacks() const noexcept {
  std::uint64_t count = 0;
  for (const Shard& shard : shards_) count += shard.rollbacks.load(std::memory_order_relaxed);
  return count;
}

}  // namespace swizzle
