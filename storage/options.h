#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "lock/lock_types.h"
#include "wal/log_options.h"

namespace swizzle {

enum class PoolMode : std::uint8_t {
  swizzling,    ///< references become addresses while their page is in memory
  traditional,  ///< hash lookup and pin on every access: the papers' baseline
  main_memory,  ///< no pool at all: data that does not fit is refused
};

enum class Replacement : std::uint8_t {
  clock_sweep,  ///< generalised clock with a hierarchical unswizzling sweep
  random,
  gclock,  ///< generalised clock over all frames, counter limit `gclock_limit`
  car,
  lru,
  cooling_fifo,  ///< a share of the pages, `cooling_percent`, waits unswizzled in a queue
};

#ifdef SWIZZLE_PLANTED_FAULTS
/// Defects that the crash campaigns must catch, or they prove nothing. Absent from release builds.
enum class StorageFault : std::uint8_t {
  none,
  skip_log_sync,      ///< the log's writes are not made durable
  lose_last_block,    ///< the last block of a group of log records is not written
  skip_compensation,  ///< rollback changes pages without a compensation record
  page_before_log,    ///< pages are written before the log that tells of them, unchecked
};
#endif

struct EngineOptions {
  std::uint64_t pool_bytes = std::uint64_t{1} << 30U;
  PoolMode pool_mode = PoolMode::swizzling;
  Replacement replacement = Replacement::clock_sweep;
  std::uint32_t gclock_limit = 8;
  std::uint32_t cooling_percent = 10;
  /// Parts of the pool with frames of their own; 0: one for each memory node of the machine.
  std::uint32_t pool_partitions = 0;
  /// The system gives all of the pool's memory at the start: the first touch of a page costs a page
  /// of zeros, and under a hypervisor much more.
  bool pool_prefault = false;
  /// The list of the pages in memory is kept, and they are read ahead after a start.
  bool pool_preload = false;

  /// Off: nothing survives a crash. For experiments; refused for a directory created with it on.
  bool logging = true;
  /// Off: concurrent transactions must not touch the same keys. For experiments.
  bool locking = true;

  /// The latched table is for comparison.
  lock::LockVariant lock_variant = lock::LockVariant::raw;
  /// A SERIALIZABLE transaction that has read this many keys of one tree asks for a lock on the
  /// whole tree instead. 0: never.
  std::uint32_t lock_escalation_threshold = 100'000;
  /// A transaction that has changed this many records keeps no lock for each one that it changes
  /// from then on: the undo records name the owner anyway. Not at SERIALIZABLE.
  std::uint32_t row_lock_limit = 10'000;
  /// Memory for old versions that are kept for snapshots. Beyond it the oldest go to nameless files
  /// in the data directory.
  std::uint64_t version_store_bytes = std::uint64_t{1} << 30U;
  /// Most bytes of these files. Beyond it the oldest snapshots fail with 72000, never the writers.
  std::uint64_t version_file_bytes = std::uint64_t{16} << 30U;

  std::uint64_t log_segment_bytes = std::uint64_t{64} << 20U;
  /// Small enough to stay in a processor's last cache: all of it is written again and again.
  std::uint64_t log_buffer_bytes = std::uint64_t{8} << 20U;
  /// The other two are for comparison.
  wal::InsertMode log_insert = wal::InsertMode::atomic_tail;
  std::uint64_t checkpoint_log_bytes = std::uint64_t{1} << 30U;
  std::uint32_t checkpoint_seconds = 300;

  /// Memory for one transaction's undo records; beyond it they go to nameless files in the data
  /// directory.
  std::uint64_t undo_memory_bytes = std::uint64_t{64} << 20U;

  /// Reads pass over what cannot be read: a page, or a large value, that is damaged costs its own
  /// rows. For a damaged database of which the rest is to be copied out; the caller lets nobody
  /// write.
  bool salvage = false;

  /// Tasks that redo pages after a crash, behind the open door; 0: as many as half the processors,
  /// at most 8.
  std::uint32_t recovery_tasks = 0;

  /// A shell command that archives a finished segment of the log: %p is its path, %f its name, exit
  /// code 0 means that it is durable elsewhere. Repeated until it succeeds, and after a crash
  /// perhaps once more, so it must not overwrite another file. Empty: nothing is archived.
  std::string archive_command = {};
  /// The same as a function, in place of the command.
  wal::ArchiveSegment archive = {};
  /// When so many finished segments wait for the archive, writers get 53100.
  std::uint32_t archive_backlog_segments = 64;

#ifdef SWIZZLE_PLANTED_FAULTS
  StorageFault fault = StorageFault::none;
#endif
};

/// Progress of a recovery, or a backup.
struct RecoveryProgress {
  /// analysis and undo, before the engine opens; in pool mode main_memory redo between the two. Of
  /// a backup checkpoint, backup (its pages) and log.
  std::string phase;
  /// Bytes of log; transactions in the undo phase, pages in the redo phase, bytes of pages in a
  /// backup.
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  /// The log position that the phase has reached.
  Lsn position = Lsn::none;
  /// Known so far: pages that lack changes, or that redo has brought up to date; transactions that
  /// have to be undone.
  std::uint64_t pages = 0;
  std::uint64_t transactions = 0;
  /// Estimate until the phase ends, at the rate so far; none while there is no estimate.
  std::optional<double> seconds_left = std::nullopt;
};
using RecoveryObserver = std::function<void(const RecoveryProgress&)>;

}  // namespace swizzle
