#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/ids.h"
#include "storage/options.h"

namespace swizzle {

/// Chooses frames to evict, by frame index. One interface for the policies that the papers compare;
/// traces are replayed through it too. Thread-safe.
class ReplacementPolicy {
 public:
  using FrameIndex = std::uint32_t;
  /// Judges if the page of a frame can be evicted right now: it is neither pinned nor dirty.
  class Judge {
   public:
    Judge() = default;
    Judge(const Judge&) = delete;
    Judge& operator=(const Judge&) = delete;
    virtual ~Judge() = default;
    virtual bool may_go(FrameIndex frame) noexcept = 0;
  };

  ReplacementPolicy() = default;
  ReplacementPolicy(const ReplacementPolicy&) = delete;
  ReplacementPolicy& operator=(const ReplacementPolicy&) = delete;
  virtual ~ReplacementPolicy() = default;

  /// Tells that `page` is in `frame` from now on; the frame was empty.
  virtual void entered(FrameIndex frame, PageId page) = 0;
  /// Tells that the page in `frame` was used. Called for every access.
  virtual void used(FrameIndex frame) noexcept = 0;
  /// Chooses a frame to empty for `incoming`; the policy regards it as empty then. Nullopt: no
  /// frame that it looked at can be emptied.
  virtual std::optional<FrameIndex> choose(PageId incoming, Judge& judge) = 0;
  /// Tells that the page has left `frame` for another reason.
  virtual void left(FrameIndex frame) noexcept = 0;
};

struct ReplacementOptions {
  Replacement policy = Replacement::clock_sweep;
  std::uint32_t frames = 0;
  /// Counters of GCLOCK saturate here; 1 is CLOCK.
  std::uint32_t gclock_limit = 8;
  std::uint32_t cooling_percent = 10;
  std::uint64_t seed = 1;
};

/// Null for clock_sweep, which lives in the swizzling pool: it needs the trees.
std::unique_ptr<ReplacementPolicy> make_replacement(const ReplacementOptions& options);

}  // namespace swizzle
