#include "wal/internal/shortage.h"

namespace swizzle::wal {
namespace {

constexpr Duration kAsksAgainAfter = std::chrono::seconds{5};

}  // namespace

std::optional<TimePoint> Shortage::note(TimePoint now) noexcept {
  if (patience_ == Duration::zero()) return std::nullopt;
  const State state = state_.load();
  if (state == State::none) since_ = now;
  if (state == State::none || (state == State::answered && now >= asked_at_ + kAsksAgainAfter)) {
    asked_at_ = now;
    state_.store(State::asked);
  }
  if (now >= since_ + patience_) return std::nullopt;
  if (state != State::answered) return since_ + patience_;
  // The answer came while the keeper looked: there may be room now.
  if (looked_at_ != State::answered) return now;
  return std::nullopt;
}

void Shortage::answer() noexcept {
  State asked = State::asked;
  state_.compare_exchange_strong(asked, State::answered);
}

}  // namespace swizzle::wal
