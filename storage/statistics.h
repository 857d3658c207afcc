#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/runtime/duration_histogram.h"
#include "wal/archive_statistics.h"

namespace swizzle {

/// A transaction that a crash interrupted and that is still to be rolled back.
struct RestartRollback {
  TxnId id = TxnId::none;
  std::uint64_t log_bytes = 0;     ///< from its first record to its newest
  std::uint64_t undone_bytes = 0;  ///< of these
  std::uint64_t closed_trees = 0;  ///< whose readers wait
  bool was_read = true;            ///< its log records, before the engine opened
};

/// Counters since the engine opened. Summed from per-thread counters, so each is exact at rest and
/// slightly old under load.
struct EngineStatistics {
  // States of the pool's frames.
  std::uint64_t pool_frames = 0;
  std::uint64_t pool_free_frames = 0;
  std::uint64_t pages_allocated = 0;  ///< of the data file
  std::uint64_t pool_swizzled = 0;    ///< resident, referred to by address
  std::uint64_t pool_unswizzled = 0;  ///< resident, found by page id
  std::uint64_t reads_in_flight = 0;
  /// The pool at a glance, a letter for each of at most kMapCells frames, evenly chosen: '.' free,
  /// 's' swizzled, 'u' resident but unswizzled; in upper case where the page is dirty.
  static constexpr std::uint32_t kMapCells = 1'600;
  std::string pool_map;
  /// The tree whose page is in the frame, for each letter of pool_map; the directory's for a frame
  /// that is free or just changing.
  std::vector<TreeId> pool_map_trees;

  /// Leaves that finished transactions requested. Hits are about leaf_requests - (pages_read -
  /// pages_read_ahead), since branches are seldom read.
  std::uint64_t leaf_requests = 0;
  std::uint64_t pages_read = 0;
  /// The pages that were in memory before the start are being read ahead.
  bool is_preloading = false;
  std::uint64_t pages_read_ahead = 0;  ///< of pages_read, those begun before the page was needed
  std::uint64_t pages_written = 0;
  std::uint64_t pages_evicted = 0;
  std::uint64_t pages_swizzled = 0;
  std::uint64_t pages_unswizzled = 0;
  std::uint64_t sweeps = 0;     ///< rounds that looked for pages to unswizzle
  std::uint64_t log_begin = 0;  ///< where the log ended when the engine opened
  std::uint64_t log_tail = 0;
  std::uint64_t log_durable = 0;
  std::uint64_t log_bytes_written = 0;  ///< whole blocks, some of them more than once
  std::uint64_t log_records = 0;
  std::uint64_t log_waits_for_room = 0;  ///< of threads that were to append
  std::uint64_t log_writes = 0;
  std::uint64_t log_flushes = 0;
  std::uint64_t log_waiters_released = 0;  ///< by these flushes
  std::uint64_t log_insert_groups = 0;     ///< of inserts that took room in the log together
  std::uint64_t log_grouped_inserts = 0;
  DurationHistogram::Counts log_sync_times;
  /// Files taken for undo records that did not fit EngineOptions::undo_memory_bytes.
  std::uint64_t undo_spilled_bytes = 0;
  std::uint64_t pages_repaired = 0;
  /// Number of pages of the data file whose content was not the written one, and the time when the
  /// last of them was read (microseconds since 1970; 0: never).
  std::uint64_t checksum_failures = 0;
  std::int64_t last_checksum_failure_us = 0;
  /// Pages that cannot be read, nor rebuilt: reading one is XX001, all else works.
  std::uint64_t pages_given_up = 0;
  /// Pages that still lack changes after a crash: redone when they are read, and in the background.
  std::uint64_t pages_pending = 0;
  std::uint64_t changes_pending = 0;  ///< log records that they lack, as far as analysis read them
  std::uint64_t pages_redone = 0;     ///< of those that lacked changes at the start
  std::uint64_t changes_redone = 0;   ///< log records that were applied to them
  std::int64_t redo_done_us = -1;     ///< time from the start until none was pending; -1: not yet
  /// A restore on demand is not complete: its backups are still needed.
  bool is_restoring = false;
  std::uint64_t pages_unrestored = 0;  ///< that are still to be read from the backups
  std::uint64_t pages_restored = 0;    ///< that were read from them since the start
  std::vector<RestartRollback> restart_rollbacks;
  std::int64_t opened_at_us = 0;  ///< when the engine began to open; microseconds since 1970
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoints_by_time = 0;  ///< of these
  std::uint64_t archive_backlog = 0;
  wal::ArchiveStatistics archive;
  std::uint64_t commits = 0;
  std::uint64_t rollbacks = 0;
  std::uint64_t prepared = 0;            ///< transactions waiting for COMMIT or ROLLBACK PREPARED
  std::uint64_t version_bytes = 0;       ///< memory of old versions kept for snapshots, at present
  std::uint64_t version_file_bytes = 0;  ///< files of such versions, at present
  std::uint64_t versions_spilled = 0;    ///< that were moved to files
  std::uint64_t versions_unneeded = 0;   ///< that no snapshot needed when they were to be moved
  // Of the background task that tidies leaves, and of VACUUM.
  std::uint64_t leaves_tidied = 0;  ///< visited
  std::uint64_t ghosts_tidied = 0;
  std::uint64_t pages_tidied = 0;        ///< given back by merging leaves
  std::uint64_t tidying_hints = 0;       ///< that wait, at present
  std::uint64_t tidying_hints_lost = 0;  ///< for want of room
  std::uint64_t snapshots_too_old = 0;   ///< that were given up so that the store keeps its bound
  std::uint64_t lock_waits = 0;
  std::vector<std::pair<std::string, std::uint64_t>> lock_waits_by_mode;
  std::uint64_t deadlocks = 0;
  std::uint64_t lock_timeouts = 0;
  std::uint64_t lock_escalations = 0;
  std::uint64_t lock_bytes = 0;
};

}  // namespace swizzle
