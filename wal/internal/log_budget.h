#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/runtime/runtime.h"
#include "base/runtime/thread_number.h"
#include "wal/internal/rollback_room.h"
#include "wal/reserve_purpose.h"

namespace swizzle::wal {

/// Room in the log, in bytes. Every append spends credits that reserve() took before, so an append
/// always finds room in the ring and in the prepared segments, and neither waits nor fails.
///
/// All accounting is one number, `promised`: the tail, plus all credits that are out. It never
/// passes the ring's limit (free memory) nor the segments' limit (prepared files). Threads keep
/// unspent credits in stripes, so that a reservation usually touches a cache line of its own. A
/// thread that finds no room takes them out of the stripes again.
///
/// Lock order: `mutex_` is a leaf; wakes happen under it, nothing else does.
class LogBudget {
 public:
  struct Hooks {
    /// Requests room in the ring, or in the segments up to this position. Must not park.
    std::function<void()> want_ring;
    std::function<void(std::uint64_t end)> want_segments;
  };

  /// `completion_bytes`: the end of the segments' room that is reserved for
  /// ReservePurpose::completion, besides the bytes that `rollbacks` has no files for.
  LogBudget(std::size_t ring_bytes, std::uint64_t completion_bytes, const RollbackRoom& rollbacks,
            Hooks hooks);

  /// Pre: no thread uses the budget yet.
  void start_at(std::uint64_t tail, std::uint64_t ring_start, std::uint64_t segments_end) noexcept;

  /// Takes `bytes` credits, and returns whose room they are of. Parks until there is room. Growth
  /// gets the error that keeps segments from being prepared, mostly 53100, and 57014 when the
  /// caller is cancelled; completion waits.
  /// 54000 when the ring could never hold as much.
  Result<Credits> take(std::size_t bytes, ReservePurpose purpose) {
    if (take_from_stripe(bytes)) return Credits::of_growth;
    return take_slowly(bytes, purpose);
  }
  /// Takes credits without waiting: nothing when there is no room now.
  std::optional<Credits> try_take(std::size_t bytes, ReservePurpose purpose) noexcept;
  /// Gives unspent credits back. Call it, with 0 if need be, when a reservation ends: a thread that
  /// waits for room then asks the writer for the records appended meanwhile.
  /// `records`: number of records appended, counted in passing. Room kept for completion does not
  /// go into a stripe, where growth would find it.
  void give_back(std::size_t bytes, std::size_t records = 0,
                 Credits credits = Credits::of_growth) noexcept;

  /// Counts a record that had no reservation.
  void count_record() noexcept { own_stripe().records.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t records() const noexcept;
  /// Number of times that a thread had to wait for room.
  [[nodiscard]] std::uint64_t waits() const noexcept {
    return waits_.load(std::memory_order_relaxed);
  }

  /// Takes credits for the flush mark: only if there is room now.
  bool try_take_mark(std::size_t bytes) noexcept;

  /// The ring is free from `start` on: [start, start + ring_bytes) may be promised.
  void set_ring_start(std::uint64_t start) noexcept;
  /// Segments are prepared up to `end`.
  void set_segments_end(std::uint64_t end) noexcept;
  /// Records that segments cannot be prepared; `why` is returned to all requests that would wait
  /// for them.
  void set_segments_failure(Error why) noexcept;

  /// True if the bytes that `rollbacks` has no files for lie in prepared segments, beyond those
  /// promised: then growth leaves them there.
  [[nodiscard]] bool holds_rollbacks() const noexcept;
  /// True if a reservation waits that must not be refused.
  [[nodiscard]] bool has_waiting_completion() noexcept;

  [[nodiscard]] std::uint64_t promised() const noexcept {
    return promised_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t segments_end() const noexcept {
    return segments_end_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t largest_take() const noexcept { return ring_bytes_ / 2; }

 private:
  static constexpr std::size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> credits{0};
    std::atomic<std::uint64_t> records{0};
  };
  // A caller of take_slowly; lives on its stack, guarded by mutex_.
  struct Waiter {
    std::size_t bytes;
    ReservePurpose purpose;
    Parker* parker;
    enum class State : std::uint8_t { waiting, granted, refused } state;
    std::optional<Error> why;
    Credits credits = Credits::of_growth;
  };
  enum class Obstacle : std::uint8_t { none, ring, segments };

  [[nodiscard]] Stripe& own_stripe() noexcept { return stripes_[thread_number() % kStripes]; }
  bool take_from_stripe(std::size_t bytes) noexcept;
  Result<Credits> take_slowly(std::size_t bytes, ReservePurpose purpose);
  Obstacle try_promise(std::size_t bytes, Credits credits) noexcept;
  // Like try_promise(), after taking back the stripes' credits.
  Obstacle try_promise_all(std::size_t bytes, Credits credits) noexcept;
  // Completion takes growth's room as long as there is some, and then its own.
  struct Promise {
    Obstacle obstacle;
    Credits credits;
  };
  Promise try_promise_all(std::size_t bytes, ReservePurpose purpose) noexcept;
  void ask_for_room(Obstacle obstacle, std::size_t bytes) noexcept;
  void refill(std::size_t bytes) noexcept;
  void serve_waiters() noexcept;
  void serve_waiters_locked() noexcept;
  Obstacle serve_queue(ReservePurpose purpose) noexcept;
  static void answer(Waiter& waiter, Waiter::State state) noexcept;
  void leave_queue(Waiter& waiter) noexcept;

  std::size_t ring_bytes_;
  std::uint64_t completion_bytes_;
  const RollbackRoom& rollbacks_;
  std::size_t chunk_bytes_;
  Hooks hooks_;

  alignas(64) std::atomic<std::uint64_t> promised_{0};
  alignas(64) std::atomic<std::uint64_t> ring_start_{0};
  std::atomic<std::uint64_t> segments_end_{0};
  std::atomic<std::size_t> waiting_{0};
  std::array<Stripe, kStripes> stripes_;
  std::atomic<std::uint64_t> waits_{0};

  std::mutex mutex_;
  std::deque<Waiter*> queue_;
  std::optional<Error> failure_;
};

}  // namespace swizzle::wal
