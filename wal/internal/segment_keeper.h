#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime/background_task.h"
#include "wal/internal/archiver.h"
#include "wal/internal/log_budget.h"
#include "wal/internal/rollback_room.h"
#include "wal/internal/segment_store.h"
#include "wal/internal/shortage.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Keeps segments prepared ahead of the tail, and recycles or removes those behind it. If it
/// cannot, it first asks the checkpointer to release old segments (Shortage), then tells the
/// budget, which refuses writers, and retries after a while. Also keeps files for rollbacks'
/// records, and makes segments of them when a rollback waits and there is no other room.
class SegmentKeeper {
 public:
  SegmentKeeper(SegmentStore& store, LogBudget& budget, RollbackRoom& rollbacks, Shortage& shortage,
                const Archiver* archiver, const LogOptions& options);
  ~SegmentKeeper() { stop(); }
  SegmentKeeper(const SegmentKeeper&) = delete;
  SegmentKeeper& operator=(const SegmentKeeper&) = delete;

  void start();
  void stop() noexcept { task_.stop(); }

  /// Requests segments up to `end` at least. Does not wait.
  void want(std::uint64_t end) noexcept;
  /// Wakes the task because it may be able to work: the tail moved on, a segment was archived.
  void nudge() noexcept { task_.wake(); }
  /// Allows records that begin before `lsn` to be recycled. Never goes back.
  void keep_from(std::uint64_t lsn) noexcept;

 private:
  void run();
  Result<> work();
  Result<> prepare_next();
  /// Keeps as many files as are owed, and one more at most.
  Result<> keep_files();
  void note_kept_files() noexcept;
  [[nodiscard]] std::uint64_t target() const noexcept;
  /// Segments below this number may be overwritten.
  [[nodiscard]] std::uint64_t free_below() const noexcept;

  SegmentStore& store_;
  LogBudget& budget_;
  RollbackRoom& rollbacks_;
  Shortage& shortage_;
  const Archiver* archiver_;
  const LogOptions& options_;
  std::atomic<std::uint64_t> wanted_end_{0};
  std::atomic<std::uint64_t> keep_from_{0};
  BackgroundTask task_;
};

}  // namespace swizzle::wal
