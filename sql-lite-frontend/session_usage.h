#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/runtime/runtime.h"

namespace swizzle::sql {

class Session;

/// Events and times counted per session for pg_stat_database.
enum class Used : std::uint8_t {
  commits,
  rollbacks,
  deadlocks,
  temporary_files,
  temporary_bytes,
  active_ns,
  idle_in_transaction_ns,
};
inline constexpr std::size_t kUsedKinds = 7;

/// End of a session, as pg_stat_database counts it.
enum class SessionEnd : std::uint8_t {
  by_client,
  abandoned,  ///< its client had disconnected
  fatal,      ///< by an error
  killed,     ///< by an administrator
  refused,    ///< it was never let in: not a session at all
};

/// A session's counters. Written by the session alone, on cache lines of its own; read by any
/// thread.
class SessionUsage {
 public:
  void add(Used what, std::uint64_t count = 1) noexcept {
    std::atomic<std::uint64_t>& counter = counters_[static_cast<std::size_t>(what)];
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t of(Used what) const noexcept {
    return counters_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }

  /// Begins a request, which lasts until ReadyForQuery. Times are counted at its end.
  void begin_request(TimePoint now) noexcept {
    const TimePoint rested_since = rests_since_.load(std::memory_order_relaxed);
    if (rests_in_transaction_) add(Used::idle_in_transaction_ns, nanoseconds(now - rested_since));
    rests_since_.store(kNever, std::memory_order_relaxed);
    active_since_ = now;
  }
  void end_request(TimePoint now, bool in_transaction) noexcept {
    add(Used::active_ns, nanoseconds(now - active_since_));
    rests_since_.store(now, std::memory_order_relaxed);
    rests_in_transaction_ = in_transaction;
  }

  /// Returns since when it waits for its client; nothing while a request runs, and before the
  /// first.
  [[nodiscard]] std::optional<TimePoint> rests_since() const noexcept {
    const TimePoint since = rests_since_.load(std::memory_order_relaxed);
    return since == kNever ? std::nullopt : std::optional{since};
  }

  /// Notes the end's reason; without it, the client has ended the session.
  void note_end(SessionEnd how) noexcept { end_.store(how, std::memory_order_relaxed); }
  [[nodiscard]] SessionEnd end() const noexcept { return end_.load(std::memory_order_relaxed); }

 private:
  static std::uint64_t nanoseconds(Duration took) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
  }

  std::array<std::atomic<std::uint64_t>, kUsedKinds> counters_{};
  static constexpr TimePoint kNever{};

  std::atomic<SessionEnd> end_{SessionEnd::by_client};
  std::atomic<TimePoint> rests_since_{kNever};
  // Private to the session.
  TimePoint active_since_{};
  bool rests_in_transaction_ = false;
};

/// Lives as long as the session.
[[nodiscard]] SessionUsage& usage_of(Session& session) noexcept;

}  // namespace swizzle::sql
