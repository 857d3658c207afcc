#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/runtime/runtime.h"

namespace swizzle::wal {

/// That no segment can be made. Whoever has old ones kept, checkpoints most of all, may be able to
/// let some go: it is asked, and writers are refused only when it has answered, or takes too long.
/// It is asked again from time to time for as long as there is no room; nobody waits for that.
class Shortage {
 public:
  /// With zero `patience` nothing is asked to make room.
  explicit Shortage(Duration patience) noexcept : patience_(patience) {}

  // The segment keeper's.

  /// It looks for room now.
  void look() noexcept { looked_at_ = state_.load(); }
  /// It found none since look(). Until when writers are to wait; nullopt: they are refused.
  std::optional<TimePoint> note(TimePoint now) noexcept;
  void is_over() noexcept { state_.store(State::none); }

  // Of whoever keeps segments.

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
