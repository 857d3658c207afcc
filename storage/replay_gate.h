#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Keeps the pages of a standby as they are while they are read: readers enter and leave, and redo
/// closes the gate for as long as it changes pages. Thread-safe; one thread closes and opens.
class ReplayGate {
 public:
  ReplayGate() = default;
  ReplayGate(const ReplayGate&) = delete;
  ReplayGate& operator=(const ReplayGate&) = delete;
  ~ReplayGate() = default;

  /// Parks while the gate is closed. False: the caller is asked to end, or nobody is let in any
  /// more; it is not inside. Pre: the caller is not inside, since redo waits for those who are.
  [[nodiscard]] bool enter() noexcept;
  /// For what has to leave something tidy: parks until the gate is open, whatever the caller is
  /// asked. False: nobody is let in any more, and redo has ended; the caller is not inside.
  [[nodiscard]] bool enter_to_end() noexcept;
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }

  /// Lets nobody in any more, and waits until all have left. False: somebody was inside for longer
  /// than `patience`, and the gate is open again.
  [[nodiscard]] bool close(Duration patience) noexcept;
  /// Lets nobody in any more: the engine is about to go.
  void shut() noexcept { is_shut_.store(true, std::memory_order_seq_cst); }
  void open() noexcept { is_closed_.store(false, std::memory_order_release); }

  [[nodiscard]] std::uint64_t inside() const noexcept {
    return inside_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> inside_{0};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_shut_{false};
};

}  // namespace swizzle
