#include "storage/txn/undo/transaction_pool.h"

#include <algorithm>
#include <mutex>

#include "base/runtime/long_work.h"
#include "base/runtime/thread_number.h"
#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/tidying/removal_hints.h"

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
    // Idle states of other threads hold the slots that are lacking here.
    for (Shard& shard : shards_)
      if (auto state = idle_state(shard)) return state;
    slot = engine_.registry->take_reserved_slot(place);
  }
  if (slot == nullptr) return nullptr;
  return std::make_unique<TransactionState>(engine_, *slot, engine_.locks, engine_.conflicts,
                                            engine_.versions);
}

void TransactionPool::give_state(std::unique_ptr<TransactionState> state) {
  Shard& shard = own_shard();
  shard.leaf_requests.fetch_add(std::exchange(state->leaf_requests, 0), std::memory_order_relaxed);
  // The state must not keep the label of its session, which may have ended when the state is
  // reused.
  state->work_for(0, nullptr);
  if (TransactionSlot& slot = state->slot; engine_.registry->is_reserved(slot)) [[unlikely]] {
    // Do not reuse this state.
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
    const Lsn commit{undo->outcome.load(std::memory_order_relaxed)};
    Retained retained{std::move(undo), nullptr, commit, shard.bytes_ever};
    const std::uint64_t bytes = retained.memory_bytes();
    if (retained.file_bytes() != 0) [[unlikely]]
      file_bytes_.fetch_add(retained.file_bytes(), std::memory_order_relaxed);
    const std::uint64_t kept =
        shard.retained_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    shard.bytes_ever += bytes + retained.file_bytes();
    shard.retained.push_back(std::move(retained));
    is_due = shard.retained.size() >= shard.reclaim_at || kept >= shard.reclaim_at_bytes;
  }
  if (planted(PlantedFault::version_freed_at_commit)) reclaim(shard, Lsn::max);
  if (!is_due) return;
  reclaim(shard, engine_.registry->version_horizon(), kMostByWriter);
  if (is_over_bound()) reclaim_by_writer(shard);
}

bool TransactionPool::is_over_bound() const noexcept {
  return retained_bytes() > engine_.options.version_store_bytes ||
         version_file_bytes() > engine_.options.version_file_bytes;
}

bool TransactionPool::reclaim_step() noexcept {
  if (!is_over_bound()) return false;
  // Before giving up another snapshot, free the versions that the last one kept.
  if (has_reclaimable(engine_.registry->version_horizon())) {
    reclaim_some();
    return true;
  }
  if (retained_bytes() > engine_.options.version_store_bytes) {
    // Read before the spilling looks at it: what becomes durable meanwhile was too young for that.
    const Lsn durable = engine_.registry->durable_end();
    const Spilled spilled = spill_any(own_shard(), UINT64_MAX);
    if (spilled == Spilled::some || spilled == Spilled::busy) return true;
    // Versions of commits that are not durable yet may be spilled or freed soon.
    const std::uint64_t young = unspilled_since(durable);
    if (retained_bytes() <= engine_.options.version_store_bytes + young) return false;
  }
  return give_up_a_snapshot();
}

/// Does a committing writer's part of the work. The reclaimer does the rest, with one exception:
/// where the files have no room, the writer itself gives up a snapshot at once, since otherwise
/// writers would pass the bound meanwhile.
void TransactionPool::reclaim_by_writer(Shard& own) noexcept {
  if (has_reclaimable(engine_.registry->version_horizon()))
    reclaim(own, engine_.registry->version_horizon(), kMostByWriter);
  else if (spill_any(own, kMostByWriter) == Spilled::no_room)
    give_up_a_snapshot();
  wake_reclaimer_();
}

TransactionPool::Spilled TransactionPool::spill_any(Shard& first,
                                                    std::uint64_t most_changes) noexcept {
  Spilled spilled = spill(first, most_changes);
  bool is_busy = spilled == Spilled::busy;
  for (std::size_t i = 0; i < kShards && spilled != Spilled::some; ++i) {
    if (spilled == Spilled::no_room) return spilled;
    spilled = spill(shards_[i], most_changes);
    is_busy = is_busy || spilled == Spilled::busy;
  }
  return spilled == Spilled::nothing && is_busy ? Spilled::busy : spilled;
}

bool TransactionPool::has_reclaimable(Lsn horizon) noexcept {
  return std::ranges::any_of(shards_, [horizon](Shard& shard) {
    const std::lock_guard hold(shard.mutex);
    const auto begins_below = [horizon](const std::deque<Retained>& queue) {
      return !queue.empty() && queue.front().commit < horizon;
    };
    return begins_below(shard.older) || begins_below(shard.retained);
  });
}

bool TransactionPool::give_up_a_snapshot() noexcept {
  // Only one thread at a time, or each would give up a snapshot where one is enough.
  if (is_giving_up_.exchange(true, std::memory_order_acquire)) return false;
  // A horizon of 1 means that a snapshot is being taken: nothing may be freed until its position is
  // known.
  const Lsn horizon = engine_.registry->version_horizon();
  const bool is_needed = is_over_bound() && horizon > Lsn{1} && !has_reclaimable(horizon);
  const bool gave_up = is_needed && engine_.registry->give_up_oldest();
  is_giving_up_.store(false, std::memory_order_release);
  return gave_up;
}

bool TransactionPool::reclaim_some() noexcept {
  const Lsn horizon = engine_.registry->version_horizon();
  bool is_more = false;
  for (Shard& shard : shards_) {
    close_filling_below(shard, horizon);
    if (reclaim(shard, horizon) == Freed::some) is_more = true;
  }
  return is_more;
}

/// Frees versions of the shard. Ends before the first log that would exceed the given number of
/// changes.
TransactionPool::Freed TransactionPool::reclaim(Shard& shard, Lsn horizon,
                                                std::uint64_t most_changes) noexcept {
  RemovalHints hints(*engine_.tidier);
  for (std::size_t freed = 0; freed < kMostAtOnce; ++freed) {
    Retained gone;
    {
      const std::lock_guard hold(shard.mutex);
      auto& queue = shard.older.empty() ? shard.retained : shard.older;
      if (queue.empty() || queue.front().commit >= horizon ||
          queue.front().changes() > most_changes) {
        // While an old snapshot holds everything, look again only after another batch has come.
        shard.reclaim_at = shard.retained.size() + kBatch;
        shard.reclaim_at_bytes = shard.retained_bytes.load(std::memory_order_relaxed) + kBatchBytes;
        return Freed::all;
      }
      gone = std::move(queue.front());
      queue.pop_front();
      shard.retained_bytes.fetch_sub(gone.memory_bytes(), std::memory_order_relaxed);
    }
    most_changes -= gone.changes();
    if (gone.file_bytes() != 0) [[unlikely]]
      file_bytes_.fetch_sub(gone.file_bytes(), std::memory_order_relaxed);
    remove_versions(gone, hints);
    if (gone.undo == nullptr) continue;
    gone.undo->clear();
    const std::lock_guard hold(shard.mutex);
    if (shard.undo_logs.size() < kBatch * 2) shard.undo_logs.push_back(std::move(gone.undo));
  }
  const std::lock_guard hold(shard.mutex);
  shard.reclaim_at = kBatch;
  shard.reclaim_at_bytes = kBatchBytes;
  return Freed::some;
}

void TransactionPool::remove_versions(const Retained& of, RemovalHints& hints) noexcept {
  const auto page_in = [&of](const UndoRecord* record) {
    if (of.undo) of.undo->page_in(record);
  };
  // So far ahead that memory answers in time; and so many records fit the caches.
  constexpr int kFetchedAhead = 8;
  const UndoRecord* soon = of.newest();
  page_in(soon);
  const auto go_on = [&] {
    soon = soon->previous;
    page_in(soon);
  };
  for (int i = 0; i < kFetchedAhead && soon != nullptr; ++i) go_on();
  for (UndoRecord* record = of.newest(); record != nullptr; record = record->previous) {
    if (soon != nullptr) {
      engine_.versions.prefetch(soon->key_hash);
      go_on();
    }
    if (record->is_version()) {
      engine_.versions.page_in_before(*record);
      engine_.versions.remove(*record);
      hints.note(*record);
    }
    unending_yield_point(kUnknownWork);
  }
}

TransactionPool::Spilled TransactionPool::spill(Shard& shard, std::uint64_t most_changes) noexcept {
  if (shard.is_spilling.exchange(true, std::memory_order_acquire)) return Spilled::busy;
  const Spilled spilled = spill_as_owner(shard, most_changes);
  {
    const std::lock_guard hold(shard.mutex);
    shard.reclaim_at = shard.retained.size() + kBatch;
    shard.reclaim_at_bytes = shard.retained_bytes.load(std::memory_order_relaxed) + kBatchBytes;
  }
  shard.is_spilling.store(false, std::memory_order_release);
  return spilled;
}

TransactionPool::Spilled TransactionPool::spill_as_owner(Shard& shard,
                                                         std::uint64_t most_changes) noexcept {
  const NeededVersions needed = engine_.registry->needed_versions();
  Spilled spilled = Spilled::nothing;
  for (std::size_t moved = 0; moved < kMostAtOnce; ++moved) {
    Retained oldest;
    {
      const std::lock_guard hold(shard.mutex);
      if (shard.retained.empty()) return spilled;
      Retained& front = shard.retained.front();
      if (front.commit >= needed.durable || front.changes() > most_changes) return spilled;
      if (!front.undo->is_movable()) {
        shard.older.push_back(std::move(front));
        shard.retained.pop_front();
        continue;
      }
      oldest = std::move(front);
      shard.retained.pop_front();
    }
    if (!make_room(shard, SpilledVersions::bytes_for(*oldest.undo))) {
      const std::lock_guard hold(shard.mutex);
      shard.retained.push_front(std::move(oldest));
      return spilled == Spilled::some ? spilled : Spilled::no_room;
    }
    most_changes -= oldest.changes();
    const std::uint64_t bytes = oldest.memory_bytes();
    spill_log(shard, *oldest.undo, oldest.commit, needed);
    oldest.undo->clear();
    spilled = Spilled::some;
    const std::lock_guard hold(shard.mutex);
    shard.retained_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (shard.undo_logs.size() < kBatch * 2) shard.undo_logs.push_back(std::move(oldest.undo));
  }
  return spilled;
}

void TransactionPool::spill_log(Shard& shard, UndoLog& undo, Lsn commit,
                                const NeededVersions& needed) noexcept {
  std::uint64_t moved = 0;
  std::uint64_t unneeded = 0;
  for (UndoRecord *record = undo.newest(), *next = nullptr; record != nullptr; record = next) {
    next = record->previous;
    if (!record->is_version()) continue;
    engine_.versions.page_in_before(*record);
    // A removal or an insert also tells that the key has had another record since; an update has
    // nothing but its old value.
    const bool is_needed = record->kind != UndoRecord::Kind::updated ||
                           needed.has_view_between(engine_.versions.made_at(*record), commit);
    if (is_needed) {
      shard.filling->take(*record, commit, engine_.versions);
      ++moved;
    } else {
      engine_.versions.remove(*record);
      ++unneeded;
    }
    unending_yield_point(kUnknownWork);
  }
  versions_spilled_.fetch_add(moved, std::memory_order_relaxed);
  versions_unneeded_.fetch_add(unneeded, std::memory_order_relaxed);
}

/// Makes sure that `filling` has room for so many bytes. Called by the owner of is_spilling.
bool TransactionPool::make_room(Shard& shard, std::size_t bytes) noexcept {
  if (shard.filling != nullptr && shard.filling->room() >= bytes) return true;
  constexpr std::size_t kSmallestFile = std::size_t{64} << 10U;
  constexpr std::size_t kLargestFile = std::size_t{16} << 20U;
  const std::size_t usual = std::clamp<std::size_t>(engine_.options.version_store_bytes / 16,
                                                    kSmallestFile, kLargestFile);
  const std::size_t wanted = std::max(usual, bytes);
  if (version_file_bytes() + wanted > engine_.options.version_file_bytes) return false;
  auto file = engine_.files.scratch(engine_.directory, wanted);
  if (!file) return false;
  auto fresh = std::make_unique<SpilledVersions>(std::move(*file));
  file_bytes_.fetch_add(fresh->bytes(), std::memory_order_relaxed);
  close_filling(shard);
  const std::lock_guard hold(shard.mutex);
  shard.filling = std::move(fresh);
  return true;
}

/// Closes the file that is being filled. Called by the owner of is_spilling.
void TransactionPool::close_filling(Shard& shard) noexcept {
  if (shard.filling == nullptr) return;
  // Writing may have to wait for a device.
  Runtime::current().run_aside([&shard] { shard.filling->write_back(); });
  const std::lock_guard hold(shard.mutex);
  const Lsn commit = shard.filling->last_commit();
  shard.older.push_back({nullptr, std::move(shard.filling), commit, 0});
}

/// Closes the file that is being filled if all its versions are below the horizon, so that a file
/// that is not full is freed with the last snapshot that needed it.
void TransactionPool::close_filling_below(Shard& shard, Lsn horizon) noexcept {
  if (shard.is_spilling.exchange(true, std::memory_order_acquire)) return;
  if (shard.filling != nullptr && shard.filling->last_commit() < horizon) close_filling(shard);
  shard.is_spilling.store(false, std::memory_order_release);
}

std::uint64_t TransactionPool::retained_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.retained_bytes.load(std::memory_order_relaxed);
  return bytes;
}

std::uint64_t TransactionPool::unspilled_since(Lsn snapshot) noexcept {
  std::uint64_t bytes = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard hold(shard.mutex);
    const auto first = std::ranges::lower_bound(shard.retained, snapshot, {}, &Retained::commit);
    if (first != shard.retained.end()) bytes += shard.bytes_ever - first->bytes_before;
  }
  return bytes;
}

std::uint64_t TransactionPool::retained_since(Lsn snapshot) noexcept {
  std::uint64_t bytes = unspilled_since(snapshot);
  for (Shard& shard : shards_) {
    const std::lock_guard hold(shard.mutex);
    for (const Retained& one : shard.older)
      if (one.commit >= snapshot) bytes += one.memory_bytes() + one.file_bytes();
    // Only the spiller may read the commits of the file being filled, so all of its bytes count; it
    // is the last file.
    if (shard.filling != nullptr) bytes += shard.filling->bytes();
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
