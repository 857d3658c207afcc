#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/runtime/background_task.h"
#include "base/runtime/runtime.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/cleaner.h"
#include "storage/recovery/background_redo.h"
#include "storage/recovery/backup/unrestored_pages.h"
#include "storage/recovery/page_redo.h"
#include "storage/recovery/pending_pages.h"
#include "storage/recovery/record_runs.h"
#include "wal/log.h"

namespace swizzle {

/// Reads the pages of a restore on demand that no reader has asked for, while sessions already run.
/// Each page is read into the pool, as by a reader, and written by the cleaner. When the data file
/// has them all, and the directory the segments of the older log that a transaction still needs, it
/// notes that the restore is complete. After a long log it first sorts the log's
/// records by page (record_runs.h).
class BackgroundRestore {
 public:
  struct Parts {
    UnrestoredPages& pages;
    PendingPages& pending;
    /// Reads the pending pages, with their records in memory.
    BackgroundRedo& redo;
    BufferPool& pool;
    Cleaner& cleaner;
    PageRedo& page_redo;
    FileSystem& files;
    const std::filesystem::path& directory;
    const wal::Log& log;
    /// Takes a checkpoint. Returns where the log that it needs begins.
    std::function<Result<Lsn>()> checkpoint;
  };
  /// Records before the ones that analysis has read.
  struct OldRecords {
    Lsn from = Lsn::none;
    Lsn end = Lsn::none;
    /// True if they are too many for lists in memory: runs are made of them.
    [[nodiscard]] bool need_runs() const noexcept {
      return raw(end) - raw(from) > most_listed_bytes;
    }
  };
  BackgroundRestore(Parts parts, OldRecords records) noexcept
      : parts_(parts), records_(records), began_(Runtime::current().now()) {}
  BackgroundRestore(const BackgroundRestore&) = delete;
  BackgroundRestore& operator=(const BackgroundRestore&) = delete;
  ~BackgroundRestore() { stop(); }

  void start();
  /// Parks until the task has ended; the next start goes on. Idempotent.
  void stop() noexcept { task_.stop(); }

  /// Log for which lists in memory serve, and memory for making a run; less in tests.
  static inline std::uint64_t most_listed_bytes = std::uint64_t{256} << 20U;
  static inline std::uint64_t run_bytes = RecordRuns::kUsualMemory;

 private:
  void run();
  enum class Which : std::uint8_t { not_pending, all };
  Result<> fetch();
  Result<> fetch(Which which);
  Result<> redo_others();
  void make_runs();
  Result<> remove_digests();
  Result<> keep_older_log();
  Result<> complete();

  const Parts parts_;
  const OldRecords records_;
  const TimePoint began_;
  std::unique_ptr<RecordRuns> runs_;
  /// The last error of making them.
  std::string told_of_runs_;
  BackgroundTask task_;
};

}  // namespace swizzle
