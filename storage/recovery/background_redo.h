#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/recovery/pending_pages.h"
#include "storage/recovery/redo_batches.h"
#include "wal/log.h"

namespace swizzle {

/// Redoes the pages that no reader has asked for, while sessions already run, a batch at a time
/// (redo_batches.h). Each page is read into the pool, as by a reader.
class BackgroundRedo {
 public:
  struct Options {
    /// Approximate memory for the copies of a batch's records.
    std::uint64_t memory_bytes = RedoBatches::kUsualMemory;
    /// Tasks that redo pages of a batch; 0: half as many as there are processors.
    std::uint32_t tasks = 0;
  };
  struct Parts {
    PendingPages& pending;
    const wal::Log& log;
    /// LSN from which analysis read; records before it are not listed.
    Lsn listed_from = Lsn::none;
    BufferPool& pool;
    /// The others are redone elsewhere.
    RedoBatches::Pages pages = RedoBatches::Pages::all;
  };
  BackgroundRedo(Parts parts, Options options) noexcept : parts_(parts), options_(options) {}
  BackgroundRedo(const BackgroundRedo&) = delete;
  BackgroundRedo& operator=(const BackgroundRedo&) = delete;
  ~BackgroundRedo() { stop(); }

  void start();
  /// Parks until the task has ended; pages may still be pending. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// Redoes all pages that are still pending, before it returns. Returns the first error other than
  /// XX001; with XX001 a page stays pending. Parks; no latch held.
  Result<> finish() {
    return finish([] { return true; });
  }
  /// The same; ends early if `goes_on` returns false.
  Result<> finish(const RedoBatches::GoesOn& goes_on) { return work(goes_on); }

 private:
  Result<> work(const RedoBatches::GoesOn& goes_on);
  void redo_batch(std::span<const PageId> batch, const RedoBatches::GoesOn& goes_on);
  void redo_share(std::span<const PageId> share_of, std::uint32_t share, std::uint32_t shares,
                  const RedoBatches::GoesOn& goes_on);

  const Parts parts_;
  const Options options_;
  ParkMutex turn_;
  std::mutex mutex_;
  std::optional<Error> error_;  ///< guarded by mutex_
  BackgroundTask task_;
};

}  // namespace swizzle
