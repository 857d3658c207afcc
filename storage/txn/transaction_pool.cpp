#include "storage/txn/transaction_pool.h"

#include <algorithm>
#include <mutex>

#include "base/runtime/long_work.h"
#include "base/runtime/thread_number.h"
#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/removal_hints.h"

namespace swizzle {
TransactionPool::TransactionPool(EngineParts& engine)
    : engine_(engine),
      undo_space_{engine.files, *engine.log, engine.directory,
                  static_cast<std::size_t>(engine.options.undo_memory_bytes),
                  static_cast<std::size_t>(engine.options.pool_bytes / 8)} {}

TransactionPool::~TransactionPool() = default;

TransactionPool::Shard& TransactionPool::own_shard() noexcept {
  return shards_[thread_number() % kShards];
}

std::unique_ptr<TransactionState> TransactionPool::idle_state(Shard& shard) {
  const std::lock_guard hold(shard.mutex);
  if (shard.states.empty()) return nullptr;
  auto state = std::move(shard.states.back());
  shard.states.pop_back();
  return state;
}

std::unique_ptr<TransactionState> TransactionPool::take_state(TransactionPlace place) {
  if (auto state = idle_state(own_shard())) return state;
  TransactionSlot* slot = engine_.registry->take_slot();
  if (slot == nullptr) [[unlikely]] {
    // Idle states of other threads have the slots that are lacking here.
    for (Shard& shard : shards_)
      if (auto state = idle_state(shard)) return state;
    slot = engine_.registry->take_reserved_slot(place);
  }
  if (slot == nullptr) return nullptr;
  return std::make_unique<TransactionState>(engine_, *slot, engine_.locks, engine_.versions);
}

void TransactionPool::give_state(std::unique_ptr<TransactionState> state) {
  Shard& shard = own_shard();
  shard.leaf_requests.fetch_add(std::exchange(state->leaf_requests, 0), std::memory_order_relaxed);
  // Its session may be gone when it works for another one, which need not set a label.
  state->work_for(0, nullptr);
  if (TransactionSlot& slot = state->slot; engine_.registry->is_reserved(slot)) [[unlikely]] {
    // Not for the next transaction.
    state = nullptr;
    engine_.registry->give_reserved_slot(slot);
    return;
  }
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
  return std::make_unique<UndoLog>(undo_space_);
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
    const std::uint64_t bytes = undo->bytes() + sizeof(UndoLog);
    const Lsn commit{undo->outcome.load(std::memory_order_relaxed)};
    const std::uint64_t kept =
        shard.retained_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    shard.retained.push_back({std::move(undo), commit, shard.bytes_ever});
    shard.bytes_ever += bytes;
    is_due = shard.retained.size() >= shard.reclaim_at || kept >= shard.reclaim_at_bytes;
  }
  if (planted(PlantedFault::version_freed_at_commit)) reclaim(shard, Lsn::max);
  if (!is_due) return;
  reclaim(shard, engine_.registry->version_horizon(), kManyChanges);
  if (retained_bytes() > engine_.options.version_store_bytes) keep_within_bound();
}

void TransactionPool::keep_within_bound() noexcept {
  // One at a time, or each would give up a snapshot where one is enough.
  if (is_giving_up_.exchange(true, std::memory_order_acquire)) return;
  // Versions of commits that are not durable yet go soon, and do not count.
  const auto is_full = [this] {
    const std::uint64_t young = retained_since(engine_.registry->durable_end());
    return retained_bytes() > engine_.options.version_store_bytes + young;
  };
  do {
    while (is_full() && reclaim_some()) {
    }
    // 1: a snapshot is being taken at this moment, and everything stays until it knows its place.
  } while (is_full() && engine_.registry->version_horizon() > Lsn{1} &&
           engine_.registry->give_up_oldest());
  is_giving_up_.store(false, std::memory_order_release);
}

bool TransactionPool::reclaim_some() noexcept {
  const Lsn horizon = engine_.registry->version_horizon();
  bool is_more = false;
  for (Shard& shard : shards_)
    if (reclaim(shard, horizon) == Freed::some) is_more = true;
  return is_more;
}

/// Up to the first log of more changes than that.
TransactionPool::Freed TransactionPool::reclaim(Shard& shard, Lsn horizon,
                                                std::uint64_t most_changes) noexcept {
  RemovalHints hints(*engine_.tidier);
  for (std::size_t freed = 0; freed < kMostAtOnce; ++freed) {
    std::unique_ptr<UndoLog> undo;
    {
      const std::lock_guard hold(shard.mutex);
      if (shard.retained.empty() || shard.retained.front().commit >= horizon ||
          shard.retained.front().undo->count() > most_changes) {
        // While an old snapshot holds everything, look again only after as many have come again.
        shard.reclaim_at = shard.retained.size() + kBatch;
        shard.reclaim_at_bytes = shard.retained_bytes.load(std::memory_order_relaxed) + kBatchBytes;
        return Freed::all;
      }
      undo = std::move(shard.retained.front().undo);
      shard.retained.pop_front();
      shard.retained_bytes.fetch_sub(undo->bytes() + sizeof(UndoLog), std::memory_order_relaxed);
    }
    // Far enough for memory to answer; and so many are no more than the caches hold.
    constexpr int kFetchedAhead = 8;
    const UndoRecord* soon = undo->newest();
    undo->bring_back(soon);
    const auto go_on = [&] {
      soon = soon->previous;
      undo->bring_back(soon);
    };
    for (int i = 0; i < kFetchedAhead && soon != nullptr; ++i) go_on();
    for (UndoRecord* record = undo->newest(); record != nullptr; record = record->previous) {
      if (soon != nullptr) {
        engine_.versions.prefetch(soon->key_hash);
        go_on();
      }
      if (record->is_version()) {
        engine_.versions.bring_back_before(*record);
        engine_.versions.remove(*record);
        hints.note(*record);
      }
      count_unended_work(kUnknownWork);
    }
    undo->clear();
    const std::lock_guard hold(shard.mutex);
    if (shard.undo_logs.size() < kBatch * 2) shard.undo_logs.push_back(std::move(undo));
  }
  const std::lock_guard hold(shard.mutex);
  shard.reclaim_at = kBatch;
  shard.reclaim_at_bytes = kBatchBytes;
  return Freed::some;
}

std::uint64_t TransactionPool::retained_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.retained_bytes.load(std::memory_order_relaxed);
  return bytes;
}

std::uint64_t TransactionPool::retained_since(Lsn snapshot) noexcept {
  std::uint64_t bytes = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard hold(shard.mutex);
    const auto first = std::ranges::lower_bound(shard.retained, snapshot, {}, &Retained::commit);
    if (first != shard.retained.end()) bytes += shard.bytes_ever - first->bytes_before;
  }
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

std::uint64_t TransactionPool::leaf_requests() const noexcept {
  std::uint64_t count = 0;
  for (const Shard& shard : shards_) count += shard.leaf_requests.load(std::memory_order_relaxed);
  return count;
}

}  // namespace swizzle
