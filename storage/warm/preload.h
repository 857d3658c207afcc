#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/io/file.h"
#include "base/runtime/background_task.h"
#include "storage/warm/resident_pages.h"

namespace swizzle {

class AnyTree;
class BufferPool;
class TreeTable;

/// Warms the pool after a start: reads ahead the pages that were resident before, the most used
/// first, while frames are free. It follows the trees' own references, level by level, so a page
/// that has left its tree since is not read (rule F7 of storage/buffer). It yields to sessions that
/// wait for pages.
class Preload {
 public:
  struct Parts {
    FileSystem& files;
    std::filesystem::path directory;
    std::uint64_t database_id;
    TreeTable& trees;
    BufferPool& pool;
  };
  explicit Preload(Parts parts) : parts_(std::move(parts)) {}
  Preload(const Preload&) = delete;
  Preload& operator=(const Preload&) = delete;
  ~Preload() { stop(); }

  void start();
  /// Parks until the task has ended, if necessary before the end of its list. Idempotent.
  void stop() noexcept { task_.stop(); }

  enum class When : std::uint8_t { at_checkpoint, at_stop };
  /// Saves the list of resident pages; at a checkpoint only if the last one is old. A list that has
  /// not been read ahead completely is kept. Failures are only logged, since the list is a hint.
  void save(When when) noexcept;

  [[nodiscard]] bool is_running() const noexcept { return !is_over_.load(); }

 private:
  void run();
  void warm(std::span<const ResidentPage> pages);
  void warm_tree(AnyTree& tree, std::span<const ResidentPage> pages);
  [[nodiscard]] bool goes_on() const noexcept;
  void give_way();

  const Parts parts_;
  std::uint64_t seen_misses_ = 0;
  std::atomic<bool> is_over_{false};
  TimePoint saved_at_{};
  BackgroundTask task_;
};

}  // namespace swizzle
