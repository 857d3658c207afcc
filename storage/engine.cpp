#include "storage/engine.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "storage/engine_parts.h"
#include "storage/latch/guards.h"
#include "storage/page/page.h"
#include "storage/statistics.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/transaction_access.h"
#include "storage/verify.h"

namespace swizzle {

void panic(std::string_view what, const Error& error) noexcept {
  std::fprintf(stderr, "PANIC: %.*s: %s\n", static_cast<int>(what.size()), what.data(),
               error.message().c_str());
  std::fflush(stderr);
  std::abort();
}

Result<> Engine::close() {
  Parts& parts = *parts_;
  parts.tidier->stop();
  parts.reaper->stop();
  parts.reclaimer->stop();
  // A restored database may begin a new log only if it was closed with nothing left to undo or
  // redo.
  parts.losers.stop();
  parts.losers.finish_for_stop();
  parts.checkpointer->stop();
  if (parts.preload) {
    parts.preload->stop();
    parts.preload->save(Preload::When::at_stop);
  }
  parts.redo->stop();
  if (parts.restore) parts.restore->stop();
  if (auto redone = parts.redo->finish(); !redone)
    spdlog::warn("pages wait for redo at the next start: {}", redone.error().message());
  RETURN_IF_ERROR(parts.cleaner->clean_all());
  // Pages that could not be redone now prevent a clean shutdown.
  const bool is_clean = parts.pending->count() == 0 && parts.losers.count() == 0;
  RETURN_IF_ERROR(
      parts.checkpointer->take(is_clean ? Control::Shutdown::clean : Control::Shutdown::none));
  parts.cleaner->stop();
  parts.log->close();
  return {};
}

namespace {

/// For work that writes, or that takes longer than redo may wait.
Result<> require_primary(const EngineParts& parts) {
  if (parts.replay_gate == nullptr) return {};
  return fail(
      Error{sqlstate::object_not_in_prerequisite_state, "recovery is in progress"}.with_hint(
          "This can only be done on a server that is not a standby."));
}

}  // namespace

std::unique_ptr<Transaction> Engine::begin(Isolation isolation, Access access) {
  return TransactionAccess::begin(*parts_, isolation, access);
}

Result<std::unique_ptr<Transaction>> Engine::try_begin(Isolation isolation, Access access,
                                                       TransactionPlace place) {
  return TransactionAccess::try_begin(*parts_, isolation, access, place);
}

Result<TreeId> Engine::create_tree(Transaction& transaction) {
  TransactionState& state = TransactionAccess::state(transaction);
  RETURN_IF_ERROR(state.begin_writing());
  ASSIGN_OR_RETURN(const TreeId id, parts_->trees->next_id());
  ASSIGN_OR_RETURN(AnyTree* const tree, parts_->trees->create(id, state.slot.chain));
  const PageId root = tree->root_page();
  const auto key = directory_key(id);
  const auto value = directory_value(root);
  RowChange change(state, TreeId::directory, key, RowChange::Wish::insert, {value, false});
  auto inserted = change.run(parts_->trees->directory());
  if (!inserted) {
    // Destroy the tree now: without its row the rollback would not find it.
    RETURN_IF_ERROR(parts_->trees->destroy(id, root));
    return fail(std::move(inserted).error());
  }
  INVARIANT(*inserted);
  state.created.push_back(id);
  return id;
}

Result<> Engine::drop_tree(Transaction& transaction, TreeId id) {
  TransactionState& state = TransactionAccess::state(transaction);
  // A loser has no lock on the relation, and its rows are still to be undone.
  if (parts_->losers.count() != 0) [[unlikely]]
    RETURN_IF_ERROR(state.wait_for_losers(id, RestartLosers::Changed::rows));
  RETURN_IF_ERROR(state.conflicts.writes_tree(id));
  const auto key = directory_key(id);
  RowChange change(state, TreeId::directory, key, RowChange::Wish::remove, {});
  ASSIGN_OR_RETURN(const bool removed, change.run(parts_->trees->directory()));
  if (!removed) return fail(sqlstate::internal_error, fmt::format("there is no tree {}", raw(id)));
  state.dropped.push_back({id, state.undo->count()});
  return {};
}

Result<Tree> Engine::tree(TreeId id) {
  ASSIGN_OR_RETURN(AnyTree* const found, parts_->trees->find(id));
  return TransactionAccess::handle(*found);
}

Result<> Engine::checkpoint() {
  // Each step of redo ends in one.
  if (is_standby()) return {};
  return parts_->checkpointer->request();
}

Result<std::uint64_t> Engine::shrink() {
  RETURN_IF_ERROR(require_primary(*parts_));
  parts_->reaper->wait_until_reaped();
  // Two checkpoints: recovery may start from the last but one, which must not need pages that are
  // cut off.
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(parts_->checkpointer->take());
  return parts_->space->shrink();
}

Result<std::vector<std::string>> Engine::verify(std::optional<TreeId> only) {
  RETURN_IF_ERROR(require_primary(*parts_));
  parts_->losers.wait_until_done();
  const TreeTable::Hold hold(*parts_->trees);
  const TreeReaper::Pause pause(*parts_->reaper);
  const LeafTidier::Pause no_tidying(*parts_->tidier);
  return only ? verify_tree(*parts_, *only) : verify_all(*parts_);
}

Result<Engine::TreeSize> Engine::size_of(TreeId id) {
  const TreeTable::Hold hold(*parts_->trees);
  TreeSize size;
  auto found = parts_->trees->find(id);
  // Dropped since the caller looked it up.
  if (!found && found.error().state() == sqlstate::internal_error) return size;
  ASSIGN_OR_RETURN(AnyTree* const tree, std::move(found));
  ASSIGN_OR_RETURN(size.pages, tree->count_pages({}, KeyBound::infinite()));
  ASSIGN_OR_RETURN(size.overflow_pages, count_overflow_pages(*parts_, id));
  return size;
}

std::uint64_t Engine::database_id() const noexcept {
  return parts_->volume->database_id();
}

LogicalLog& Engine::logical_log() const noexcept {
  return *parts_->logical;
}
FileSystem& Engine::files() const noexcept {
  return parts_->files;
}
const std::filesystem::path& Engine::directory() const noexcept {
  return parts_->directory;
}

namespace {

TreeId tree_of(Frame& frame) noexcept {
  const ReadGuard read(frame.latch);
  TreeId tree = TreeId::directory;
  std::memcpy(&tree, frame.page() + offsetof(PageHeader, tree), sizeof tree);
  return read.valid() ? tree : TreeId::directory;
}

/// Sets pool_map and pool_map_trees.
void map_pool(const FrameArena& arena, EngineStatistics& all) {
  const std::uint32_t count = std::min(EngineStatistics::kMapCells, arena.count());
  std::string& map = all.pool_map;
  map.assign(count, '.');
  all.pool_map_trees.assign(count, TreeId::directory);
  // Frames that were never used have no content to inspect; they are behind the used ones.
  const std::uint32_t used = arena.used();
  for (std::uint32_t cell = 0; cell < count; ++cell) {
    const auto index = std::uint64_t{cell} * arena.count() / count;
    if (index >= used) continue;
    Frame& frame = *arena.nth_used(index);
    const FrameState state = frame.state();
    if (state == FrameState::free) continue;
    all.pool_map_trees[cell] = tree_of(frame);
    const bool is_dirty = frame.dirty_since.load(std::memory_order_relaxed) != Lsn::none;
    if (state == FrameState::swizzled) map[cell] = is_dirty ? 'S' : 's';
    if (state == FrameState::unswizzled) map[cell] = is_dirty ? 'U' : 'u';
  }
}

}  // namespace

EngineStatistics Engine::statistics() const {
  BufferPool& pool = parts_->trees->factory().pool();
  EngineStatistics all;
  const PoolOccupancy occupancy = pool.occupancy();
  all.pool_frames = occupancy.frames;
  all.pool_free_frames = occupancy.free;
  all.pool_swizzled = occupancy.swizzled();
  all.pool_unswizzled = occupancy.unswizzled;
  all.reads_in_flight = occupancy.being_read;
  map_pool(pool.arena(), all);
  all.leaf_requests = parts_->transactions->leaf_requests();
  all.pages_allocated = parts_->space->allocated_pages();
  all.pages_read = pool.counters().reads.load(std::memory_order_relaxed);
  all.pages_read_ahead = pool.counters().reads_ahead.load(std::memory_order_relaxed);
  all.is_preloading = parts_->preload != nullptr && parts_->preload->is_running();
  all.sweeps = pool.counters().sweeps.load(std::memory_order_relaxed);
  all.pages_written = parts_->volume->pages_written();
  all.pages_evicted = pool.counters().evictions.load(std::memory_order_relaxed);
  all.pages_swizzled = pool.counters().swizzled.load(std::memory_order_relaxed);
  all.pages_unswizzled = pool.counters().unswizzled.load(std::memory_order_relaxed);
  all.log_begin = raw(parts_->log->begin());
  all.log_tail = raw(parts_->log->tail());
  all.log_durable = raw(parts_->log->durable());
  all.undo_spilled_bytes = parts_->transactions->spilled_bytes();
  all.checksum_failures = parts_->store->checksum_failures();
  all.last_checksum_failure_us = parts_->store->last_checksum_failure_us();
  all.pages_given_up = parts_->given_up ? parts_->given_up->list().size() : 0;
  all.pages_pending = parts_->pending->count();
  all.changes_pending = parts_->pending->changes();
  all.pages_redone = parts_->page_redo->pages_redone();
  all.changes_redone = parts_->page_redo->changes_applied();
  all.redo_done_us = parts_->page_redo->done_us();
  if (const UnrestoredPages* const pages = parts_->unrestored.get()) {
    all.is_restoring = !pages->is_complete();
    all.pages_unrestored = pages->lacking_count();
    all.pages_restored = pages->lacking_at_start() - all.pages_unrestored;
  }
  all.opened_at_us = parts_->opened_at_us;
  // On a standby they are transactions of the primary, which go on.
  if (!is_standby()) all.restart_rollbacks = parts_->losers.list();
  all.pages_repaired = parts_->repair->repaired();
  all.checkpoints = parts_->checkpointer ? parts_->checkpointer->taken() : 0;
  const wal::LogStatistics log = parts_->log->statistics();
  all.checkpoints_by_time = parts_->checkpointer ? parts_->checkpointer->taken_by_time() : 0;
  all.archive_backlog = log.archive_backlog;
  all.archive = log.archive;
  all.log_records = log.records;
  all.log_waits_for_room = log.waits_for_room;
  all.log_writes = log.writes;
  all.log_bytes_written = log.bytes_written;
  all.log_flushes = log.flushes;
  all.log_waiters_released = log.waiters_released;
  all.log_insert_groups = log.insert_groups;
  all.log_grouped_inserts = log.grouped_inserts;
  all.log_sync_times = log.sync_times;
  all.commits = parts_->transactions->commits();
  all.rollbacks = parts_->transactions->rollbacks();
  all.prepared = parts_->prepared.count();
  all.version_bytes = parts_->transactions->retained_bytes();
  all.version_file_bytes = parts_->transactions->version_file_bytes();
  all.versions_spilled = parts_->transactions->versions_spilled();
  all.versions_unneeded = parts_->transactions->versions_unneeded();
  const LeafTidier::Counters& tidied = parts_->tidier->counters();
  all.leaves_tidied = tidied.leaves.load(std::memory_order_relaxed);
  all.ghosts_tidied = tidied.ghosts_removed.load(std::memory_order_relaxed);
  all.pages_tidied = tidied.pages_freed.load(std::memory_order_relaxed);
  all.tidying_hints = parts_->tidier->hints();
  all.tidying_hints_lost = tidied.hints_lost.load(std::memory_order_relaxed);
  all.snapshots_too_old = parts_->registry->given_up();
  const lock::LockStatistics locks = parts_->locks.statistics();
  all.lock_waits = locks.waits;
  all.lock_waits_by_mode = parts_->locks.waits_by_mode();
  all.deadlocks = locks.deadlocks;
  all.lock_timeouts = locks.timeouts;
  all.lock_escalations = locks.escalations;
  all.lock_bytes = locks.entry_bytes;
  return all;
}

std::uint64_t Engine::pages_read_of(TreeId tree) const {
  return parts_->trees->factory().pool().reads_by_tree().of(tree);
}

std::vector<lock::LockRow> Engine::locks() const {
  return parts_->locks.snapshot();
}

std::vector<lock::ReadMarkRow> Engine::read_marks() const {
  return parts_->conflicts.marks().rows();
}

std::vector<lock::LockRow> Engine::lock_waits() const {
  return parts_->locks.waits();
}

std::vector<HeldSnapshot> Engine::snapshots() const {
  std::vector<HeldSnapshot> all;
  for (const TransactionRegistry::Held& held : parts_->registry->held_snapshots())
    all.push_back({held.label, held.snapshot,
                   held.too_old ? 0 : parts_->transactions->retained_since(held.snapshot),
                   held.next_id,
                   held.too_old ? HeldSnapshot::State::too_old : HeldSnapshot::State::usable});
  return all;
}

std::vector<WritingTransaction> Engine::writers() const {
  return parts_->registry->writers();
}

void ValueBuffer::grow(std::size_t size) {
  data_ = std::make_unique_for_overwrite<std::byte[]>(size);
  capacity_ = size;
}

}  // namespace swizzle
