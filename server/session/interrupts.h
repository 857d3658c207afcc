#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle::server {

/// Why a session must end, as somebody else decided.
enum class EndReason : std::uint8_t {
  none,
  administrator,  ///< fast shutdown, pg_terminate_backend: 57P01
  crowded,        ///< has not logged in, and others wait to
};

/// Requests of others to a session, kept where its waits can see them. Set from any thread; the
/// owner looks whenever a wait returns.
class Interrupts {
 public:
  /// Pre: called by the thread or fiber that will wait.
  explicit Interrupts(Parker& owner) noexcept : owner_(owner) {}
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() = default;

  /// Callers make sure that the session lives: SessionRegistry calls under its mutex.
  void request_end(EndReason reason) noexcept {
    // Published before the wake: the owner that wakes sees the reason.
    end_.store(reason, std::memory_order_release);
    owner_.unpark();
  }
  void request_cancel() noexcept {
    cancel_.store(true, std::memory_order_release);
    owner_.unpark();
  }

  /// The session has something for its client, who may be asleep.
  void announce_news() noexcept {
    news_.store(true, std::memory_order_release);
    owner_.unpark();
  }

  /// There may be more of the log to send.
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
  /// Before looking at them: what comes after this is announced again.
  void take_news() noexcept { news_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] bool has_log() const noexcept { return log_.load(std::memory_order_acquire); }
  /// Before looking into it, as for news.
  void take_log() noexcept { log_.store(false, std::memory_order_seq_cst); }
  /// A cancel that came too late belongs to no statement.
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
