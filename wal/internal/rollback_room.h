#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle::wal {

/// Disk space for the records that rollbacks of open transactions would log. A transaction reserves
/// it before it changes anything, so a rollback finds it however full the disk is. It is kept in
/// files of a segment's size (SegmentStore::keep_file) that become segments only when a rollback
/// finds no other room.
///
/// Reservations beyond the files lie in prepared segments, which growth then leaves alone
/// (LogBudget). Lock order: `mutex_` is a leaf; wakes happen under it, nothing else does.
class RollbackRoom {
 public:
  struct Hooks {
    /// Requests as many files as are owed. Must not park.
    std::function<void()> want_files;
    /// True if prepared segments hold the bytes that the files do not.
    std::function<bool()> is_held;
  };
  explicit RollbackRoom(Hooks hooks) : hooks_(std::move(hooks)) {}

  /// Pre: no thread uses it yet. `kept` bytes are in files, for transactions of before the start
  /// whose rollback is still to come. They are owed until recovered(), and until then owe() does
  /// not wait.
  void start_with(std::uint64_t kept) noexcept;
  void recovered() noexcept;

  /// Reserves `bytes`: parks until there are files for them. An error that keeps files from being
  /// made goes to the caller; 57014 when the caller is cancelled.
  Result<> owe(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept;

  void set_kept(std::uint64_t bytes) noexcept;
  /// No more files can be made now: waiters get `why`, unless prepared segments hold the bytes that
  /// the files do not.
  void answer(const Error& why) noexcept;

  [[nodiscard]] std::uint64_t owed() const noexcept {
    return owed_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t kept() const noexcept {
    return kept_.load(std::memory_order_acquire);
  }
  /// Returns the bytes that prepared segments must still provide.
  [[nodiscard]] std::uint64_t unreserved_space() const noexcept {
    const std::uint64_t owed = owed_.load(std::memory_order_acquire);
    const std::uint64_t kept = kept_.load(std::memory_order_acquire);
    return owed > kept ? owed - kept : 0;
  }

 private:
  // A caller of owe(); lives on its stack, guarded by mutex_.
  struct Waiter {
    Parker* parker;
    bool is_answered = false;
    std::optional<Error> why;
  };
  [[nodiscard]] bool is_covered() const noexcept;
  void answer_all(const Error* why) noexcept;

  Hooks hooks_;
  std::atomic<std::uint64_t> owed_{0};
  std::atomic<std::uint64_t> kept_{0};
  /// Part of `owed_` that transactions of before the start owe.
  std::atomic<std::uint64_t> owed_from_before_{0};
  std::atomic<bool> is_recovering_{false};
  /// True after a failed try to make a file: the next caller looks at segments before it waits.
  std::atomic<bool> lacks_files_{false};

  std::mutex mutex_;
  std::vector<Waiter*> waiters_;
};

}  // namespace swizzle::wal
