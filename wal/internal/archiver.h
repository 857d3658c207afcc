#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>

#include "base/runtime/background_task.h"
#include "wal/archive_statistics.h"
#include "wal/internal/segment_store.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Writes the file "archived" of the log in `directory`: segments before `next` count as archived.
/// Durable on return.
Result<> store_archived_position(FileSystem& files, const std::filesystem::path& directory,
                                 std::uint64_t database_id, std::uint64_t next);

/// Archives finished segments by LogOptions::archive, one after the other, and retries each until
/// it succeeds. The position is kept in the file "archived" beside the segments; if that is lost,
/// segments are archived again.
class Archiver {
 public:
  /// `durable` and `on_archived` must not park.
  Archiver(SegmentStore& store, const LogOptions& options, std::function<std::uint64_t()> durable,
           std::function<void()> on_archived);
  ~Archiver() { stop(); }
  Archiver(const Archiver&) = delete;
  Archiver& operator=(const Archiver&) = delete;

  Result<> start();
  void stop() noexcept { task_.stop(); }
  void nudge() noexcept { task_.wake(); }

  /// The first segment that is not archived yet.
  [[nodiscard]] std::uint64_t next_segment() const noexcept { return next_.load(); }
  /// Number of finished segments that wait.
  [[nodiscard]] std::uint64_t backlog() const noexcept;
  [[nodiscard]] ArchiveStatistics statistics() const;

 private:
  void run();
  void note(std::uint64_t number, bool is_archived);
  Result<> archive_one(std::uint64_t number);
  Result<> load_state();

  SegmentStore& store_;
  const LogOptions& options_;
  std::function<std::uint64_t()> durable_;
  std::function<void()> on_archived_;
  std::atomic<std::uint64_t> next_{0};
  mutable std::mutex statistics_mutex_;
  ArchiveStatistics statistics_;
  BackgroundTask task_;
};

}  // namespace swizzle::wal
