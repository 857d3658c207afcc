#include <algorithm>
#include <charconv>
#include <deque>
#include <set>
#include <utility>

#include "base/random.h"
#include "bench/replay/policy.h"
#include "bench/replay/queues.h"

namespace swizzle::bench {
namespace {

constexpr std::uint32_t kNone = PageLists::kNone;

/// An array of frames, and the frame of each page.
class Frames {
 public:
  explicit Frames(const PolicyTask& task)
      : page_of_(task.frames, kNone), frame_of_(task.pages, kNone) {}
  [[nodiscard]] std::uint32_t frame_of(std::uint32_t page) const { return frame_of_[page]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(page_of_.size()); }
  [[nodiscard]] bool full() const { return used_ == count(); }
  std::uint32_t use_next(std::uint32_t page) {
    put(used_, page);
    return used_++;
  }
  void put(std::uint32_t frame, std::uint32_t page) {
    if (page_of_[frame] != kNone) frame_of_[page_of_[frame]] = kNone;
    page_of_[frame] = page;
    frame_of_[page] = frame;
  }

 private:
  std::vector<std::uint32_t> page_of_;
  std::vector<std::uint32_t> frame_of_;
  std::uint32_t used_ = 0;
};

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(const PolicyTask& task) : frames_(task), random_(task.seed) {}
  bool access(std::uint32_t page) override {
    if (frames_.frame_of(page) != kNone) return true;
    if (frames_.full()) {
      frames_.put(static_cast<std::uint32_t>(random_.below(frames_.count())), page);
    } else {
      frames_.use_next(page);
    }
    return false;
  }

 private:
  Frames frames_;
  Random random_;
};

class GClockPolicy final : public Policy {
 public:
  GClockPolicy(const PolicyTask& task, std::uint32_t limit)
      : frames_(task), usage_(task.frames), limit_(limit) {}
  bool access(std::uint32_t page) override {
    std::uint32_t frame = frames_.frame_of(page);
    if (frame != kNone) {
      usage_[frame] = std::min(usage_[frame] + 1, limit_);
      return true;
    }
    if (frames_.full()) {
      while (usage_[hand_] != 0) {
        --usage_[hand_];
        advance();
      }
      frame = hand_;
      frames_.put(frame, page);
      advance();
    } else {
      frame = frames_.use_next(page);
    }
    usage_[frame] = 1;
    return false;
  }

 private:
  void advance() { hand_ = hand_ + 1 == frames_.count() ? 0 : hand_ + 1; }
  Frames frames_;
  std::vector<std::uint32_t> usage_;
  std::uint32_t limit_;
  std::uint32_t hand_ = 0;
};

/// FIFO and LRU, which differ only in their treatment of a hit.
class QueuePolicy final : public Policy {
 public:
  enum class OnHit : std::uint8_t { stay, move_to_end };
  QueuePolicy(const PolicyTask& task, OnHit on_hit)
      : lists_(task.pages, 1), frames_(task.frames), on_hit_(on_hit) {}
  bool access(std::uint32_t page) override {
    if (lists_.list_of(page) != kNone) {
      if (on_hit_ == OnHit::move_to_end) {
        lists_.remove(page);
        lists_.append(0, page);
      }
      return true;
    }
    if (lists_.size(0) == frames_) lists_.take_oldest(0);
    lists_.append(0, page);
    return false;
  }

 private:
  PageLists lists_;
  std::uint32_t frames_;
  OnHit on_hit_;
};

/// Full 2Q (Johnson and Shasha): a quarter of the frames for pages seen once; remembers half as
/// many evicted page numbers.
class TwoQueuePolicy final : public Policy {
 public:
  explicit TwoQueuePolicy(const PolicyTask& task)
      : lists_(task.pages, 3),
        frames_(task.frames),
        once_limit_(std::max(1U, task.frames / 4)),
        gone_limit_(std::max(1U, task.frames / 2)) {}
  bool access(std::uint32_t page) override {
    switch (lists_.list_of(page)) {
      case kMain:
        lists_.remove(page);
        lists_.append(kMain, page);
        return true;
      case kOnce:
        return true;
      case kGone:
        lists_.remove(page);
        make_room();
        lists_.append(kMain, page);
        return false;
      default:
        make_room();
        lists_.append(kOnce, page);
        return false;
    }
  }

 private:
  enum List : std::uint32_t { kMain, kOnce, kGone };
  void make_room() {
    if (lists_.size(kMain) + lists_.size(kOnce) < frames_) return;
    if (lists_.size(kOnce) > once_limit_ || lists_.size(kMain) == 0) {
      lists_.append(kGone, lists_.take_oldest(kOnce));
      if (lists_.size(kGone) > gone_limit_) lists_.take_oldest(kGone);
    } else {
      lists_.take_oldest(kMain);
    }
  }
  PageLists lists_;
  std::uint32_t frames_;
  std::uint32_t once_limit_;
  std::uint32_t gone_limit_;
};

/// CAR (Bansal and Modha): two clocks, two lists of evicted pages, and an adaptive target.
class CarPolicy final : public Policy {
 public:
  explicit CarPolicy(const PolicyTask& task)
      : lists_(task.pages, 4), referenced_(task.pages), frames_(task.frames) {}
  bool access(std::uint32_t page) override {
    const std::uint32_t list = lists_.list_of(page);
    if (list == kRecent || list == kFrequent) {
      referenced_[page] = true;
      return true;
    }
    if (lists_.size(kRecent) + lists_.size(kFrequent) == frames_) {
      replace();
      if (list == kNone) trim();
    }
    if (list == kNone) {
      lists_.append(kRecent, page);
    } else {
      adapt(list);
      lists_.remove(page);
      lists_.append(kFrequent, page);
    }
    referenced_[page] = false;
    return false;
  }

 private:
  enum List : std::uint32_t { kRecent, kFrequent, kGoneRecent, kGoneFrequent };

  void replace() {
    while (true) {
      const bool from_recent = lists_.size(kRecent) >= std::max(1U, target_);
      const std::uint32_t page = lists_.take_oldest(from_recent ? kRecent : kFrequent);
      if (!referenced_[page]) {
        lists_.append(from_recent ? kGoneRecent : kGoneFrequent, page);
        return;
      }
      referenced_[page] = false;
      lists_.append(kFrequent, page);
    }
  }
  void trim() {
    if (lists_.size(kRecent) + lists_.size(kGoneRecent) >= frames_) {
      if (lists_.size(kGoneRecent) != 0) lists_.take_oldest(kGoneRecent);
    } else if (lists_.size(kRecent) + lists_.size(kFrequent) + lists_.size(kGoneRecent) +
                       lists_.size(kGoneFrequent) >=
                   2 * frames_ &&
               lists_.size(kGoneFrequent) != 0) {
      lists_.take_oldest(kGoneFrequent);
    }
  }
  void adapt(std::uint32_t list) {
    const std::uint32_t recent = std::max(1U, lists_.size(kGoneRecent));
    const std::uint32_t frequent = std::max(1U, lists_.size(kGoneFrequent));
    if (list == kGoneRecent) {
      target_ = std::min(target_ + std::max(1U, frequent / recent), frames_);
    } else {
      const std::uint32_t step = std::max(1U, recent / frequent);
      target_ = target_ > step ? target_ - step : 0;
    }
  }

  PageLists lists_;
  std::vector<bool> referenced_;
  std::uint32_t frames_;
  std::uint32_t target_ = 0;
};

/// LeanStore's policy: a random page cools; the one that has cooled longest is evicted; an access
/// to a cooling page warms it again.
class LeanPolicy final : public Policy {
 public:
  LeanPolicy(const PolicyTask& task, std::uint32_t cooling_percent)
      : cooling_(task.pages, 1),
        hot_place_(task.pages, kNone),
        frames_(task.frames),
        cooling_target_(std::max(1U, task.frames * cooling_percent / 100)),
        random_(task.seed) {}
  bool access(std::uint32_t page) override {
    if (hot_place_[page] != kNone) return true;
    const bool was_cooling = cooling_.list_of(page) != kNone;
    if (was_cooling) cooling_.remove(page);
    if (!was_cooling && hot_.size() + cooling_.size(0) == frames_) {
      cool();
      cooling_.take_oldest(0);
    }
    hot_place_[page] = static_cast<std::uint32_t>(hot_.size());
    hot_.push_back(page);
    if (hot_.size() + cooling_.size(0) == frames_) cool();
    return was_cooling;
  }

 private:
  void cool() {
    while (cooling_.size(0) < cooling_target_ && !hot_.empty()) {
      const auto place = static_cast<std::uint32_t>(random_.below(hot_.size()));
      const std::uint32_t page = std::exchange(hot_[place], hot_.back());
      hot_place_[hot_[place]] = place;
      hot_.pop_back();
      hot_place_[page] = kNone;
      cooling_.append(0, page);
    }
  }
  PageLists cooling_;
  std::vector<std::uint32_t> hot_;
  std::vector<std::uint32_t> hot_place_;
  std::uint32_t frames_;
  std::uint32_t cooling_target_;
  Random random_;
};

/// Clock sweep with unswizzling, the engine's own policy.
class SweepPolicy final : public Policy {
 public:
  SweepPolicy(const PolicyTask& task, std::uint32_t cooling_percent)
      : cooling_(task.pages, 1),
        swizzled_(task.pages),
        usage_(task.pages),
        frames_(task.frames),
        cooling_target_(std::max(1U, task.frames * cooling_percent / 100)) {}
  bool access(std::uint32_t page) override {
    if (swizzled_[page]) {
      usage_[page] = static_cast<std::uint8_t>(std::min(usage_[page] + 1, 3));
      return true;
    }
    const bool second_chance = cooling_.list_of(page) != kNone;
    if (second_chance) {
      cooling_.remove(page);
    } else if (resident_ == frames_) {
      if (cooling_.size(0) < cooling_target_) sweep();
      cooling_.take_oldest(0);
    } else {
      ++resident_;
    }
    swizzled_[page] = true;
    usage_[page] = static_cast<std::uint8_t>(second_chance ? 1 : 0);
    return second_chance;
  }

 private:
  void sweep() {
    while (cooling_.size(0) < cooling_target_) {
      hand_ = hand_ + 1 == swizzled_.size() ? 0 : hand_ + 1;
      if (!swizzled_[hand_]) continue;
      if (usage_[hand_] != 0) {
        --usage_[hand_];
      } else {
        swizzled_[hand_] = false;
        cooling_.append(0, hand_);
      }
    }
  }
  PageLists cooling_;
  std::vector<bool> swizzled_;
  std::vector<std::uint8_t> usage_;
  std::uint32_t frames_;
  std::uint32_t cooling_target_;
  std::uint32_t resident_ = 0;
  std::uint32_t hand_ = 0;
};

/// Belady's OPT: evicts the page whose next use is farthest away.
class OptimalPolicy final : public Policy {
 public:
  explicit OptimalPolicy(const PolicyTask& task)
      : next_use_(task.trace->size()), resident_until_(task.pages, 0), frames_(task.frames) {
    std::vector<std::uint32_t> later(task.pages, kNone);
    for (std::size_t i = task.trace->size(); i-- > 0;) {
      const std::uint32_t page = (*task.trace)[i];
      next_use_[i] = later[page];
      later[page] = static_cast<std::uint32_t>(i);
    }
  }
  bool access(std::uint32_t page) override {
    const std::uint32_t next = next_use_[at_++];
    const auto found = by_next_use_.find({resident_until_[page], page});
    const bool hit = found != by_next_use_.end();
    if (hit) {
      by_next_use_.erase(found);
    } else if (by_next_use_.size() == frames_) {
      by_next_use_.erase(std::prev(by_next_use_.end()));
    }
    resident_until_[page] = next;
    by_next_use_.emplace(next, page);
    return hit;
  }

 private:
  std::vector<std::uint32_t> next_use_;
  std::vector<std::uint32_t> resident_until_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> by_next_use_;
  std::uint32_t frames_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyTask& task) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  std::uint32_t parameter = 10;
  if (colon != std::string_view::npos) {
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), parameter);
  }
  if (kind == "random") return std::make_unique<RandomPolicy>(task);
  if (kind == "fifo") return std::make_unique<QueuePolicy>(task, QueuePolicy::OnHit::stay);
  if (kind == "lru") return std::make_unique<QueuePolicy>(task, QueuePolicy::OnHit::move_to_end);
  if (kind == "gclock") return std::make_unique<GClockPolicy>(task, parameter);
  if (kind == "car") return std::make_unique<CarPolicy>(task);
  if (kind == "2q") return std::make_unique<TwoQueuePolicy>(task);
  if (kind == "lean") return std::make_unique<LeanPolicy>(task, parameter);
  if (kind == "sweep") return std::make_unique<SweepPolicy>(task, parameter);
  if (kind == "opt") return std::make_unique<OptimalPolicy>(task);
  return nullptr;
}

}  // namespace swizzle::bench
