#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {

/// What others want of a session: that its running request ends, or that it ends itself.
/// The session's own functions are for its thread or fiber, the others for any.
class Interruption final : public Overseer {
 public:
  /// The running request is to end: with `reason`, or with 57014 "… due to user request".
  void cancel(std::optional<Diagnostic> reason);
  /// The session is to end: this request, and every later one, fails with `reason`.
  void terminate(const Diagnostic& reason);
  [[nodiscard]] std::optional<Diagnostic> termination() const;

  // The session's own.

  /// A cancel that came while nothing ran has nothing to end.
  void begin_request() noexcept {
    if (is_asked_.load(std::memory_order_relaxed)) forget_cancel();
  }
  /// Throws what the request is to end with, if it is. A cancel acts once.
  void check() {
    if (is_asked_.load(std::memory_order_relaxed)) act(Afterwards::forgotten);
  }
  /// Long work of the request asks this. What computes to find out whether something can be
  /// computed may take the error for an answer: so the cancel stays, and the next check() finds it.
  void look() override {
    if (is_asked_.load(std::memory_order_relaxed)) act(Afterwards::kept);
  }
  /// The same question without acting on it.
  [[nodiscard]] bool is_asked() const noexcept { return is_asked_.load(std::memory_order_relaxed); }
  /// A wait that was interrupted knows only that (57014): says in `failure` what asked for it.
  void explain(Diagnostic& failure) const;

 private:
  void forget_cancel() noexcept;
  enum class Afterwards : std::uint8_t { forgotten, kept };
  void act(Afterwards afterwards);

  /// Whether the rest is worth looking at. Relaxed: whoever sees it takes the mutex.
  std::atomic<bool> is_asked_{false};
  mutable std::mutex mutex_;
  bool is_cancelled_ = false;
  std::optional<Diagnostic> cancel_reason_;
  std::optional<Diagnostic> termination_;
};

}  // namespace swizzle::sql
