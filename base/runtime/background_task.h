#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/runtime/runtime.h"

namespace swizzle {

/// A task that works, waits, and works again until it is stopped: the frame of the log's, the
/// pool's and the engine's background work. Its body asks is_stopping() and waits by the three
/// calls below.
///
/// Pending work is a flag here, since the parker's pending wake is lost if the body parks for
/// another reason between two waits, such as a file transfer.
class BackgroundTask {
 public:
  BackgroundTask() = default;
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask() { stop(); }

  /// Pre: it does not run. Earlier wakes count.
  void start(std::string name, std::function<void()> body);
  /// Parks until the body has returned. Idempotent.
  void stop() noexcept;
  [[nodiscard]] bool is_running() const noexcept { return task_ != nullptr; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_.load(); }

  /// Announces work. Callable under latches, by any thread, before the start and after the stop.
  void wake() noexcept;

  // For the body. All return when the task is to stop.

  /// Waits until woken, perhaps since the last wait.
  void wait() noexcept;
  /// The same, until `deadline` at most.
  void wait_until(TimePoint deadline) noexcept;
  /// Waits until `deadline`. A wake does not end it, and counts for the next wait.
  void pause_until(TimePoint deadline) noexcept;

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<bool> woken_{false};
  std::atomic<Parker*> parker_{nullptr};
  std::unique_ptr<Task> task_;
};

}  // namespace swizzle
