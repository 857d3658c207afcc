#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

namespace swizzle {

/// Ends the process when the thread that made it has not moved a counter for too long: it is
/// blocked in the operating system, or loops. Prints `what`'s text and the thread's stack first.
/// One at a time per thread; uses a timer and SIGUSR2 (which ThreadSanitizer
/// holds back while the thread waits for a mutex).
class Watchdog {
 public:
  /// `what` is called on the watched thread, in the signal handler, right before the abort.
  Watchdog(const std::atomic<std::uint64_t>& progress, std::chrono::milliseconds limit,
           std::function<std::string()> what);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  static void tick(int signal);

  const std::atomic<std::uint64_t>& progress_;
  std::uint64_t last_seen_;
  std::function<std::string()> what_;
  timer_t timer_{};
};

}  // namespace swizzle
