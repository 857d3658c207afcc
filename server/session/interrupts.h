#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle::server {

/// Reason why a session was told to end.
enum class EndReason : std::uint8_t {
  none,
  administrator,  ///< fast shutdown, pg_terminate_backend: 57P01
  crowded,        ///< has not logged in, and newer connections wait
};

/// Requests to a session from other threads, kept where its waits can see them. The owner checks
/// them whenever a wait returns.
class Interrupts {
 public:
  /// Pre: called by the thread or fiber that will wait.
  explicit Interrupts(Parker& owner) noexcept : owner_(owner) {}
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() = default;

  /// Pre: the session lives. SessionRegistry calls under its mutex.
  void request_end(EndReason reason) noexcept {
    // Published before the wake: the woken owner sees the reason.
    end_.store(reason, std::memory_order_release);
    owner_.unpark();
  }
  void request_cancel() noexcept {
    cancel_.store(true, std::memory_order_release);
    owner_.unpark();
  }

  /// Announces a notification for the client; wakes the session.
  void announce_news() noexcept {
    news_.store(true, std::memory_order_release);
    owner_.unpark();
  }

  /// Announces that there may be more of the log to send.
  void announce_log() noexcept {
    log_.store(true, std::memory_order_release);
    owner_.unpark();
  }

  [[nodiscard]] EndReason end_reason() const noexcept {
    return end_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool cancel_requested() const noexcept {
    return cancel_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool has_news() const noexcept { return news_.load(std::memory_order_acquire); }
  /// Call before sending notifications: later ones are announced again.
  void take_news() noexcept { news_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] bool has_log() const noexcept { return log_.load(std::memory_order_acquire); }
  /// Call before reading the log, as for news.
  void take_log() noexcept { log_.store(false, std::memory_order_seq_cst); }
  /// Drops a cancel request that came after its statement.
  void forget_cancel() noexcept {
    if (cancel_.load(std::memory_order_relaxed)) cancel_.store(false, std::memory_order_relaxed);
  }

 private:
  Parker& owner_;
  std::atomic<EndReason> end_{EndReason::none};
  std::atomic<bool> cancel_{false};
  std::atomic<bool> news_{false};
  std::atomic<bool> log_{false};
};

}  // namespace swizzle::server
