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
/// That there is work is remembered here and not by the parker alone, whose pending wake is used up
/// by whatever the body does between two waits, a file transfer for one.
class BackgroundTask {
 public:
  BackgroundTask() = default;
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask() { stop(); }

  /// Pre: it does not run. What was woken for before is not forgotten.
  void start(std::string name, std::function<void()> body);
  /// Parks until the body has returned. Idempotent.
  void stop() noexcept;
  [[nodiscard]] bool is_running() const noexcept { return task_ != nullptr; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_.load(); }

  /// There is work. Callable under latches, by anybody, before the start and after the stop.
  void wake() noexcept;

  // The body's. All return when the task is to stop.

  /// Until woken, perhaps since the last wait.
  void wait() noexcept;
  /// The same, but not beyond `deadline`.
  void wait_until(TimePoint deadline) noexcept;
  /// Until `deadline`: to be woken is no reason to hurry, and is remembered.
  void pause_until(TimePoint deadline) noexcept;

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<bool> woken_{false};
  std::atomic<Parker*> parker_{nullptr};
  std::unique_ptr<Task> task_;
};

}  // namespace swizzle
