#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {

/// Requests to a session from other threads: to end its running request, or to end itself. Some
/// functions are for the session's thread or fiber only, the others for any.
class Interruption final : public Overseer {
 public:
  /// Asks the running request to end: with `reason`, or with 57014 "… due to user request".
  void cancel(std::optional<Diagnostic> reason);
  /// Asks the session to end: this request, and every later one, fails with `reason`.
  void terminate(const Diagnostic& reason);
  [[nodiscard]] std::optional<Diagnostic> termination() const;

  // For the session's thread or fiber.

  /// Forgets a cancel that came while no request ran.
  void begin_request() noexcept {
    if (is_asked_.load(std::memory_order_relaxed)) forget_cancel();
  }
  /// Throws the error with which the request is to end, if any. Consumes the cancel.
  void check() {
    if (is_asked_.load(std::memory_order_relaxed)) act(Afterwards::forgotten);
  }
  /// Checks for cancel without consuming it, for long work of the request. Constant folding
  /// swallows SqlError, so the request stays set until check() reports it at the top.
  void look() override {
    if (is_asked_.load(std::memory_order_relaxed)) act(Afterwards::kept);
  }
  /// True if a request to end is set; does not consume it.
  [[nodiscard]] bool is_asked() const noexcept { return is_asked_.load(std::memory_order_relaxed); }
  /// Puts the reason into `failure`: an interrupted wait reports only 57014.
  void explain(Diagnostic& failure) const;

 private:
  void forget_cancel() noexcept;
  enum class Afterwards : std::uint8_t { forgotten, kept };
  void act(Afterwards afterwards);

  /// True if the members below may be set. Relaxed: a thread that sees true takes the mutex.
  std::atomic<bool> is_asked_{false};
  mutable std::mutex mutex_;
  bool is_cancelled_ = false;
  std::optional<Diagnostic> cancel_reason_;
  std::optional<Diagnostic> termination_;
};

}  // namespace swizzle::sql
