#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "lock/lock_types.h"
#include "wal/log_options.h"

namespace swizzle {

enum class PoolMode : std::uint8_t {
  swizzling,    ///< references to resident pages become addresses
  traditional,  ///< hash lookup and pin at every access: the papers' baseline
  main_memory,  ///< no paging: data that does not fit is refused
};

enum class Replacement : std::uint8_t {
  clock_sweep,  ///< generalised clock with a hierarchical unswizzling sweep
  random,
  gclock,  ///< generalised clock over all frames, counter limit `gclock_limit`
  car,
  lru,
  cooling_fifo,  ///< a share of the pages, `cooling_percent`, waits unswizzled in a FIFO queue
};

#ifdef SWIZZLE_PLANTED_FAULTS
/// Planted defects that the crash campaigns must find. Absent from release builds.
enum class StorageFault : std::uint8_t {
  none,
  skip_log_sync,      ///< writes of the log are not synced
  lose_last_block,    ///< the last block of a group of log records is not written
  skip_compensation,  ///< rollback changes pages without a compensation record
  page_before_log,    ///< pages are written before their log, unchecked
};
#endif

struct EngineOptions {
  std::uint64_t pool_bytes = std::uint64_t{1} << 30U;
  PoolMode pool_mode = PoolMode::swizzling;
  Replacement replacement = Replacement::clock_sweep;
  std::uint32_t gclock_limit = 8;
  std::uint32_t cooling_percent = 10;
  /// Partitions of the pool; 0: one for each memory node of the machine.
  std::uint32_t pool_partitions = 0;
  /// Commits the pool's memory at the start. Otherwise the first touch of a page costs a zeroed
  /// page, and under a hypervisor much more.
  bool pool_prefault = false;
  /// Saves the list of resident pages and reads them ahead after a start.
  bool pool_preload = false;

  /// Off: nothing survives a crash. For experiments; refused for a directory created with it on.
  bool logging = true;
  /// Off: concurrent transactions must not access the same keys. For experiments.
  bool locking = true;

  /// The latched table is for comparison.
  lock::LockVariant lock_variant = lock::LockVariant::raw;
  /// Keys of one tree that a SERIALIZABLE transaction locks before it escalates to a lock on the
  /// tree. 0: never.
  std::uint32_t lock_escalation_threshold = 100'000;
  /// Records that a transaction changes before it stops to lock each one: the undo records name the
  /// owner anyway. Not at SERIALIZABLE.
  std::uint32_t row_lock_limit = 10'000;
  /// Memory for old versions that snapshots need. Beyond it the oldest are spilled to unnamed files
  /// in the data directory.
  std::uint64_t version_store_bytes = std::uint64_t{1} << 30U;
  /// Size limit of these files. Beyond it the oldest snapshots fail with 72000, never the writers.
  std::uint64_t version_file_bytes = std::uint64_t{16} << 30U;

  std::uint64_t log_segment_bytes = std::uint64_t{64} << 20U;
  /// Small enough for the last-level cache, since all of it is rewritten continuously.
  std::uint64_t log_buffer_bytes = std::uint64_t{8} << 20U;
  /// The other modes are for comparison.
  wal::InsertMode log_insert = wal::InsertMode::atomic_tail;
  std::uint64_t checkpoint_log_bytes = std::uint64_t{1} << 30U;
  std::uint32_t checkpoint_seconds = 300;

  /// Memory for one transaction's undo records; beyond it they are spilled to unnamed files in the
  /// data directory.
  std::uint64_t undo_memory_bytes = std::uint64_t{64} << 20U;

  /// Readers skip what cannot be read: a damaged page or large value costs its own rows. For
  /// copying the rest out of a damaged database; the caller prevents writes.
  bool salvage = false;

  /// Tasks that redo pages in the background after a crash; 0: half as many as there are
  /// processors, at most 8.
  std::uint32_t recovery_tasks = 0;

  /// Shell command that archives a finished segment of the log: %p is its path, %f its name; exit
  /// code 0 means that it is durable elsewhere. Repeated until it succeeds, and possibly once more
  /// after a crash, so it must not overwrite another file. Empty: no archive.
  std::string archive_command = {};
  /// The same as a function, instead of the command.
  wal::ArchiveSegment archive = {};
  /// Fetches archived segments instead of a command: of the log from before a restore on demand,
  /// and for the repair of pages.
  wal::RestoreSegment restore = {};
  /// Backups whose pages replace damaged ones that double-write area and log cannot rebuild: a full
  /// one, and incremental ones after it. Not used on a standby.
  std::vector<std::filesystem::path> repair_backups = {};
  /// Shell command that fetches an archived segment of the log for that, where `restore` is empty:
  /// %f is its name, %p the path to put it at. Empty: there is no archive.
  std::string restore_command = {};
  /// Number of finished segments waiting for the archive at which writers get 53100.
  std::uint32_t archive_backlog_segments = 64;

#ifdef SWIZZLE_PLANTED_FAULTS
  StorageFault fault = StorageFault::none;
#endif
};

/// Progress of a recovery or a backup.
struct RecoveryProgress {
  /// Recovery: analysis, then undo, before the engine opens; in pool mode main_memory with redo
  /// between them. Backup: checkpoint, backup (its pages), log.
  std::string phase;
  /// Bytes of log; in the undo phase transactions, in the redo phase pages, in a backup bytes of
  /// pages.
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  /// The log position that the phase has reached.
  Lsn position = Lsn::none;
  /// So far: pages that lack changes or that redo has brought up to date; transactions to undo.
  std::uint64_t pages = 0;
  std::uint64_t transactions = 0;
  /// Estimated time until the phase ends, at the rate so far; none without an estimate.
  std::optional<double> seconds_left = std::nullopt;
};
using RecoveryObserver = std::function<void(const RecoveryProgress&)>;

}  // namespace swizzle
