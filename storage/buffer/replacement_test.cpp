#include "storage/buffer/replacement.h"

#include <catch2/catch.hpp>
#include <functional>
#include <list>
#include <unordered_map>

#include "base/random.h"

using namespace swizzle;

namespace {

class AllMayGo final : public ReplacementPolicy::Judge {
 public:
  bool may_go(ReplacementPolicy::FrameIndex frame) noexcept override { return frame != held; }
  ReplacementPolicy::FrameIndex held = UINT32_MAX;
};

/// A cache of page ids under a policy.
class Cache {
 public:
  explicit Cache(const ReplacementOptions& options)
      : policy_(make_replacement(options)), pages_(options.frames, PageId::none) {}

  /// Returns true if the page was resident.
  bool access(PageId page) {
    ++accesses_;
    if (const auto found = where_.find(page); found != where_.end()) {
      policy_->used(found->second);
      ++hits_;
      return true;
    }
    ReplacementPolicy::FrameIndex frame = used_frames_;
    if (used_frames_ < pages_.size()) {
      ++used_frames_;
    } else {
      const auto chosen = policy_->choose(page, judge);
      REQUIRE(chosen);
      frame = *chosen;
      REQUIRE(frame != judge.held);
      REQUIRE(where_.erase(pages_[frame]) == 1);
    }
    pages_[frame] = page;
    where_.emplace(page, frame);
    policy_->entered(frame, page);
    return false;
  }
  [[nodiscard]] double hit_rate() const {
    return static_cast<double>(hits_) / static_cast<double>(accesses_);
  }

  AllMayGo judge;

 private:
  std::unique_ptr<ReplacementPolicy> policy_;
  std::vector<PageId> pages_;
  std::unordered_map<PageId, ReplacementPolicy::FrameIndex> where_;
  std::uint32_t used_frames_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t hits_ = 0;
};

constexpr std::uint32_t kFrames = 400;
constexpr std::uint64_t kPages = 4000;

ReplacementOptions of(Replacement policy) {
  return {.policy = policy, .frames = kFrames, .gclock_limit = 8};
}

double hit_rate(Replacement policy, const std::function<std::uint64_t(std::uint64_t)>& trace) {
  Cache cache(of(policy));
  for (std::uint64_t i = 0; i < 60'000; ++i) cache.access(PageId{trace(i) + 1});
  return cache.hit_rate();
}

}  // namespace

TEST_CASE("LRU hits exactly where a model of it does", "[replacement]") {
  Cache cache(of(Replacement::lru));
  std::list<PageId> model;
  Random random{5};
  const Zipf zipf{kPages, 0.9};
  for (int i = 0; i < 30'000; ++i) {
    const PageId page{zipf(random) + 1};
    const auto found = std::find(model.begin(), model.end(), page);
    const bool expected = found != model.end();
    if (expected) model.erase(found);
    model.push_back(page);
    if (model.size() > kFrames) model.pop_front();
    REQUIRE(cache.access(page) == expected);
  }
}

TEST_CASE("skewed accesses: every policy beats chance, and CAR is not worse than LRU",
          "[replacement]") {
  const auto skewed = [random = Random{7}, zipf = Zipf{kPages, 1.0}](std::uint64_t) mutable {
    return zipf(random);
  };
  const double chance = hit_rate(Replacement::random, skewed);
  REQUIRE(chance > 0.5);
  const double lru = hit_rate(Replacement::lru, skewed);
  const double car = hit_rate(Replacement::car, skewed);
  REQUIRE(lru > chance);
  REQUIRE(hit_rate(Replacement::gclock, skewed) > chance);
  REQUIRE(hit_rate(Replacement::cooling_fifo, skewed) > chance);
  REQUIRE(car > lru - 0.005);
}

TEST_CASE("a loop slightly longer than the pool: LRU never hits, chance does", "[replacement]") {
  const auto loop = [](std::uint64_t i) { return i % (kFrames + kFrames / 10); };
  REQUIRE(hit_rate(Replacement::lru, loop) < 0.001);
  REQUIRE(hit_rate(Replacement::random, loop) > 0.5);
}

TEST_CASE("scans between skewed accesses: CAR keeps what is used again", "[replacement]") {
  const auto mixed = [random = Random{9}, zipf = Zipf{kPages, 1.0}](std::uint64_t i) mutable {
    return i % 3 == 0 ? kPages + i : zipf(random);
  };
  REQUIRE(hit_rate(Replacement::car, mixed) > hit_rate(Replacement::lru, mixed));
}

TEST_CASE("what may not go stays, and what left otherwise is not chosen", "[replacement]") {
  for (const Replacement policy : {Replacement::random, Replacement::gclock, Replacement::car,
                                   Replacement::lru, Replacement::cooling_fifo}) {
    CAPTURE(static_cast<int>(policy));
    Cache cache({.policy = policy, .frames = 20});
    cache.judge.held = 3;
    for (std::uint64_t page = 1; page < 500; ++page) cache.access(PageId{page});
    const auto empty = make_replacement({.policy = policy, .frames = 4});
    AllMayGo judge;
    REQUIRE_FALSE(empty->choose(PageId{1}, judge));
    empty->entered(2, PageId{9});
    empty->left(2);
    REQUIRE_FALSE(empty->choose(PageId{1}, judge));
  }
  REQUIRE(make_replacement({.policy = Replacement::clock_sweep, .frames = 4}) == nullptr);
}
