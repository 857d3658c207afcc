#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/runtime/runtime.h"

namespace swizzle::wal {

/// State of a log for which no segment can be made. A task that keeps old segments, mostly the
/// checkpointer, is asked to release some. Writers are refused only when it has answered, or takes
/// too long. It is asked again from time to time while there is no room, but no writer waits for
/// that.
class Shortage {
 public:
  /// With zero `patience` no task is asked to make room.
  explicit Shortage(Duration patience) noexcept : patience_(patience) {}

  // For the segment keeper.

  /// It looks for room now.
  void look() noexcept { looked_at_ = state_.load(); }
  /// It has found none since look(). Returns until when writers must wait; nullopt: they are
  /// refused.
  std::optional<TimePoint> note(TimePoint now) noexcept;
  void is_over() noexcept { state_.store(State::none); }

  // For the task that keeps old segments.

  [[nodiscard]] bool is_asked() const noexcept { return state_.load() == State::asked; }
  /// Tells that everything that could be released has been.
  void answer() noexcept;

 private:
  enum class State : std::uint8_t { none, asked, answered };

  const Duration patience_;
  std::atomic<State> state_{State::none};
  State looked_at_ = State::none;
  TimePoint since_{};
  TimePoint asked_at_{};
};

}  // namespace swizzle::wal
