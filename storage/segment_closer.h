#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/ids.h"
#include "base/runtime/background_task.h"

namespace swizzle {

class Engine;

/// Closes the log's segment once something in it has waited so long, so that the archive gets it
/// (archive_timeout). The timeout is measured from the moment when the log reached the segment.
class SegmentCloser {
 public:
  /// Pre: `engine` logs, and outlives it.
  explicit SegmentCloser(Engine& engine) : engine_(engine) {}
  SegmentCloser(const SegmentCloser&) = delete;
  SegmentCloser& operator=(const SegmentCloser&) = delete;
  ~SegmentCloser() { stop(); }

  void start();
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// Zero: never. Thread-safe.
  void set_timeout(std::chrono::seconds timeout) noexcept;

 private:
  void run();
  [[nodiscard]] std::uint64_t segment() const;

  Engine& engine_;
  std::atomic<std::chrono::seconds::rep> timeout_{0};
  BackgroundTask task_;
};

}  // namespace swizzle
