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

/// Redoes the pages that no reader has asked for, behind the door, a batch at a time
/// (redo_batches.h): each page is read into the pool, as a reader would.
class BackgroundRedo {
 public:
  struct Options {
    /// For the copies of a batch's records, roughly.
    std::uint64_t memory_bytes = RedoBatches::kUsualMemory;
    /// Tasks that redo pages of a batch; 0: half as many as there are processors.
    std::uint32_t tasks = 0;
  };
  struct Parts {
    PendingPages& pending;
    const wal::Log& log;
    /// LSN from which analysis read: older records are not listed.
    Lsn listed_from = Lsn::none;
    BufferPool& pool;
  };
  BackgroundRedo(Parts parts, Options options) noexcept : parts_(parts), options_(options) {}
  BackgroundRedo(const BackgroundRedo&) = delete;
  BackgroundRedo& operator=(const BackgroundRedo&) = delete;
  ~BackgroundRedo() { stop(); }

  void start();
  /// Parks until the task has ended; pages may still be pending. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// Redoes all pages that are still pending; the caller waits. Returns the first error other than
  /// XX001: such a page stays pending. Parks; no latch held.
  Result<> finish();

 private:
  Result<> work(const RedoBatches::GoesOn& goes_on);
  void redo_batch(std::span<const PageId> batch, const RedoBatches::GoesOn& goes_on);
  void redo_share(std::span<const PageId> share_of, std::uint32_t share, std::uint32_t shares,
                  const RedoBatches::GoesOn& goes_on);

  const Parts parts_;
  const Options options_;
  ParkMutex turn_;
  std::mutex mutex_;
  std::optional<Error> error_;  ///< under mutex_
  BackgroundTask task_;
};

}  // namespace swizzle
