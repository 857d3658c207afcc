#include "storage/buffer/replacement.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/random.h"
#include "storage/buffer/replacement_lists.h"

namespace swizzle {
namespace {

using FrameIndex = ReplacementPolicy::FrameIndex;

/// Evicts random frames.
class RandomReplacement final : public ReplacementPolicy {
 public:
  explicit RandomReplacement(const ReplacementOptions& options)
      : random_(options.seed), occupied_(options.frames) {}

  void entered(FrameIndex frame, PageId /*page*/) override { occupied_[frame].store(true); }
  void used(FrameIndex /*frame*/) noexcept override {}
  void left(FrameIndex frame) noexcept override { occupied_[frame].store(false); }
  std::optional<FrameIndex> choose(PageId /*incoming*/, Judge& judge) override {
    const std::lock_guard hold(mutex_);
    for (std::size_t tries = 8 * occupied_.size(); tries > 0; --tries) {
      const auto frame = static_cast<FrameIndex>(random_.below(occupied_.size()));
      if (!occupied_[frame].load() || !judge.may_go(frame)) continue;
      occupied_[frame].store(false);
      return frame;
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  Random random_;
  std::vector<std::atomic<bool>> occupied_;
};

/// A clock: a use raises the frame's counter up to a limit, the hand lowers it and evicts at 0.
class GeneralisedClock final : public ReplacementPolicy {
 public:
  explicit GeneralisedClock(const ReplacementOptions& options)
      : limit_(std::max(options.gclock_limit, 1U)), counters_(options.frames) {}

  void entered(FrameIndex frame, PageId /*page*/) override {
    counters_[frame].store(1 + kOccupied);
  }
  void used(FrameIndex frame) noexcept override {
    // A hot frame's counter stands at the limit and is not written.
    const std::uint32_t counter = counters_[frame].load(std::memory_order_relaxed);
    if (counter < limit_ + kOccupied)
      counters_[frame].store(counter + 1, std::memory_order_relaxed);
  }
  void left(FrameIndex frame) noexcept override { counters_[frame].store(0); }
  std::optional<FrameIndex> choose(PageId /*incoming*/, Judge& judge) override {
    const std::lock_guard hold(mutex_);
    const std::size_t frames = counters_.size();
    for (std::size_t steps = frames * (limit_ + 2); steps > 0; --steps) {
      const auto frame = static_cast<FrameIndex>(hand_++ % frames);
      const std::uint32_t counter = counters_[frame].load(std::memory_order_relaxed);
      if (counter == 0) continue;
      if (counter > kOccupied) {
        counters_[frame].store(counter - 1, std::memory_order_relaxed);
      } else if (judge.may_go(frame)) {
        counters_[frame].store(0);
        return frame;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kOccupied = 1;  // 0 means that there is no page
  const std::uint32_t limit_;
  std::mutex mutex_;
  std::uint64_t hand_ = 0;
  std::vector<std::atomic<std::uint32_t>> counters_;
};

/// Exact LRU, so every use takes the mutex.
class LeastRecentlyUsed final : public ReplacementPolicy {
 public:
  explicit LeastRecentlyUsed(const ReplacementOptions& options) : lists_(options.frames) {}

  void entered(FrameIndex frame, PageId /*page*/) override {
    const std::lock_guard hold(mutex_);
    lists_.push_back(by_age_, frame);
  }
  void used(FrameIndex frame) noexcept override {
    const std::lock_guard hold(mutex_);
    if (lists_.list_of(frame) == nullptr) return;
    lists_.remove(frame);
    lists_.push_back(by_age_, frame);
  }
  void left(FrameIndex frame) noexcept override {
    const std::lock_guard hold(mutex_);
    if (lists_.list_of(frame) != nullptr) lists_.remove(frame);
  }
  std::optional<FrameIndex> choose(PageId /*incoming*/, Judge& judge) override {
    const std::lock_guard hold(mutex_);
    for (std::uint32_t left_to_see = by_age_.size; left_to_see > 0; --left_to_see) {
      const FrameIndex frame = by_age_.first;
      lists_.remove(frame);
      if (judge.may_go(frame)) return frame;
      lists_.push_back(by_age_, frame);
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  FrameLists lists_;
  FrameLists::List by_age_;
};

/// Bansal and Modha, "CAR: Clock with Adaptive Replacement" (FAST 2004): two clocks, for pages used
/// once and for pages used again, each with a history of its evictions. Hits in the histories move
/// the share of the first clock.
class ClockAdaptive final : public ReplacementPolicy {
 public:
  explicit ClockAdaptive(const ReplacementOptions& options)
      : frames_(options.frames),
        lists_(options.frames),
        pages_(options.frames),
        referenced_(options.frames) {}

  void used(FrameIndex frame) noexcept override {
    if (!referenced_[frame].load(std::memory_order_relaxed))
      referenced_[frame].store(true, std::memory_order_relaxed);
  }
  void entered(FrameIndex frame, PageId page) override {
    const std::lock_guard hold(mutex_);
    pages_[frame] = page;
    referenced_[frame].store(false, std::memory_order_relaxed);
    const std::size_t once_before = once_history_.size();
    const std::size_t again_before = again_history_.size();
    if (once_history_.remove(page)) {
      target_ =
          std::min<double>(frames_, target_ + std::max(1.0, ratio(again_before, once_before)));
      lists_.push_back(again_, frame);
    } else if (again_history_.remove(page)) {
      target_ = std::max(0.0, target_ - std::max(1.0, ratio(once_before, again_before)));
      lists_.push_back(again_, frame);
    } else {
      lists_.push_back(once_, frame);
    }
  }
  void left(FrameIndex frame) noexcept override {
    const std::lock_guard hold(mutex_);
    if (lists_.list_of(frame) != nullptr) lists_.remove(frame);
  }
  std::optional<FrameIndex> choose(PageId incoming, Judge& judge) override {
    const std::lock_guard hold(mutex_);
    const auto victim = evict(judge);
    if (victim) forget_for(incoming);
    return victim;
  }

 private:
  static double ratio(std::size_t a, std::size_t b) noexcept {
    return b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b);
  }

  std::optional<FrameIndex> evict(Judge& judge) {
    // If no frame of one clock can be evicted (one branch, with children that are pinned), the
    // other must still give one.
    std::size_t refused_once = 0;
    std::size_t refused_again = 0;
    for (std::size_t steps = 4 * std::size_t{frames_}; steps > 0; --steps) {
      bool from_once = again_.size == 0 || (once_.size > 0 && static_cast<double>(once_.size) >=
                                                                  std::max(1.0, target_));
      if (from_once ? refused_once >= once_.size : refused_again >= again_.size)
        from_once = !from_once;
      FrameLists::List& clock = from_once ? once_ : again_;
      if (clock.size == 0) return std::nullopt;
      const FrameIndex frame = clock.first;
      lists_.remove(frame);
      if (referenced_[frame].exchange(false, std::memory_order_relaxed)) {
        lists_.push_back(again_, frame);
      } else if (!judge.may_go(frame)) {
        ++(from_once ? refused_once : refused_again);
        lists_.push_back(clock, frame);
      } else {
        (from_once ? once_history_ : again_history_).push(pages_[frame]);
        return frame;
      }
    }
    return std::nullopt;
  }

  // The histories together have as many pages as there are frames.
  void forget_for(PageId incoming) {
    if (once_history_.remove(incoming)) {
      once_history_.push(incoming);  // about to be hit, so it becomes the youngest
      return;
    }
    if (once_history_.size() > 0 && once_.size + once_history_.size() > frames_)
      once_history_.pop_oldest();
    else if (again_history_.size() > 0 &&
             once_.size + again_.size + once_history_.size() + again_history_.size() >=
                 2 * std::size_t{frames_})
      again_history_.pop_oldest();
  }

  const std::uint32_t frames_;
  std::mutex mutex_;
  FrameLists lists_;
  FrameLists::List once_;
  FrameLists::List again_;
  PageHistory once_history_;
  PageHistory again_history_;
  std::vector<PageId> pages_;
  std::vector<std::atomic<bool>> referenced_;
  double target_ = 0;
};

/// LeanStore's policy: pages chosen at random wait in a queue, the cooling share. A page used there
/// is hot again, one that reaches the end is evicted.
class CoolingFifo final : public ReplacementPolicy {
 public:
  explicit CoolingFifo(const ReplacementOptions& options)
      : share_(std::max(1U, static_cast<std::uint32_t>(std::uint64_t{options.frames} *
                                                       options.cooling_percent / 100))),
        random_(options.seed),
        lists_(options.frames),
        states_(options.frames) {}

  void entered(FrameIndex frame, PageId /*page*/) override { states_[frame].store(State::hot); }
  void used(FrameIndex frame) noexcept override {
    if (states_[frame].load(std::memory_order_relaxed) == State::cooling)
      states_[frame].store(State::hot, std::memory_order_relaxed);
  }
  void left(FrameIndex frame) noexcept override {
    const std::lock_guard hold(mutex_);
    states_[frame].store(State::empty);
    if (lists_.list_of(frame) != nullptr) lists_.remove(frame);
  }
  std::optional<FrameIndex> choose(PageId /*incoming*/, Judge& judge) override {
    const std::lock_guard hold(mutex_);
    for (std::size_t steps = 4 * states_.size(); steps > 0; --steps) {
      cool();
      if (queue_.size == 0) return std::nullopt;
      const FrameIndex frame = queue_.first;
      lists_.remove(frame);
      if (states_[frame].load() != State::cooling) continue;  // used meanwhile
      if (judge.may_go(frame)) {
        states_[frame].store(State::empty);
        return frame;
      }
      // Pinned, or dirty: another takes its place, or a queue full of such pages would never move.
      states_[frame].store(State::hot);
    }
    return std::nullopt;
  }

 private:
  enum class State : std::uint8_t { empty, hot, cooling };

  void cool() {
    for (std::size_t tries = 8 * states_.size(); queue_.size < share_ && tries > 0; --tries) {
      const auto frame = static_cast<FrameIndex>(random_.below(states_.size()));
      if (states_[frame].load() != State::hot || lists_.list_of(frame) != nullptr) continue;
      states_[frame].store(State::cooling);
      lists_.push_back(queue_, frame);
    }
  }

  const std::uint32_t share_;
  std::mutex mutex_;
  Random random_;
  FrameLists lists_;
  FrameLists::List queue_;
  std::vector<std::atomic<State>> states_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_replacement(const ReplacementOptions& options) {
  switch (options.policy) {
    case Replacement::clock_sweep:
      return nullptr;
    case Replacement::random:
      return std::make_unique<RandomReplacement>(options);
    case Replacement::gclock:
      return std::make_unique<GeneralisedClock>(options);
    case Replacement::car:
      return std::make_unique<ClockAdaptive>(options);
    case Replacement::lru:
      return std::make_unique<LeastRecentlyUsed>(options);
    case Replacement::cooling_fifo:
      return std::make_unique<CoolingFifo>(options);
  }
  return nullptr;
}

}  // namespace swizzle
