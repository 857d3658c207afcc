#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

namespace swizzle {

/// Ends the process if the thread that created the watchdog has not advanced a counter for too
/// long: it is blocked in the operating system, or loops. Prints the text of `what` and the
/// thread's stack first. One at a time per thread; uses a timer and SIGUSR2 (which ThreadSanitizer
/// delays while the thread waits for a mutex).
class Watchdog {
 public:
  /// `what` is called on the watched thread, in the signal handler, before the abort.
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
