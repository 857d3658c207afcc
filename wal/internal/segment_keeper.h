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

/// Keeps segments prepared ahead of the tail, and recycles or removes those behind it. When it
/// cannot, it says why to the budget, which then refuses writers, and tries again after a while;
/// but first it has asked whoever keeps old segments (Shortage). Keeps files for what rollbacks
/// would log, too, and makes segments of them where a rollback waits and nothing else is left.
class SegmentKeeper {
 public:
  SegmentKeeper(SegmentStore& store, LogBudget& budget, RollbackRoom& rollbacks, Shortage& shortage,
                const Archiver* archiver, const LogOptions& options);
  ~SegmentKeeper() { stop(); }
  SegmentKeeper(const SegmentKeeper&) = delete;
  SegmentKeeper& operator=(const SegmentKeeper&) = delete;

  void start();
  void stop() noexcept { task_.stop(); }

  /// Prepares at least up to `end`. Does not wait.
  void want(std::uint64_t end) noexcept;
  /// Something changed that may let it work: the tail moved on, a segment was archived.
  void nudge() noexcept { task_.wake(); }
  /// Allows records that begin before `lsn` to be recycled. Never goes back.
  void keep_from(std::uint64_t lsn) noexcept;

 private:
  void run();
  Result<> work();
  Result<> prepare_next();
  /// As many as is owed, and one more at most.
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
