#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace swizzle {

/// Treatment of unsynced changes by a power cut; drawn anew for every crash.
enum class CrashStyle : std::uint8_t { keep_all, lose_all, mixed };
CrashStyle draw_crash_style(Random& random) noexcept;

/// The bytes of a simulated file: what a reader sees, what would survive a power cut for certain,
/// and the changes between the two, each of which a power cut may keep, drop or tear.
/// Not thread-safe.
class VolatileBytes {
 public:
  enum class State : std::uint8_t {
    /// Submitted. Readers do not see it yet; after a crash it may be on the medium.
    under_way,
    done,
    durable,
    /// A sync that should have covered it failed. Readers see it; no later sync saves it.
    lost,
  };
  struct Change {
    std::uint64_t offset = 0;
    /// The bytes written; empty for a resize.
    std::vector<std::byte> data = {};
    /// The new size of a resize.
    std::uint64_t size = 0;
    State state = State::under_way;
    /// When it was done, in calls of complete().
    std::uint64_t done_at = 0;

    [[nodiscard]] bool is_resize() const noexcept { return data.empty(); }
  };
  using Handle = std::list<Change>::iterator;

  [[nodiscard]] const std::vector<std::byte>& seen() const noexcept { return seen_; }
  [[nodiscard]] const std::vector<std::byte>& durable() const noexcept { return durable_; }
  [[nodiscard]] std::size_t unsynced_changes() const noexcept { return changes_.size(); }

  Handle begin(Change change);
  void complete(Handle change);
  void complete_durably(Handle change);
  /// Removes the change as if it had never been submitted.
  void cancel(Handle change);

  /// Returns the extent that a sync which begins now will cover.
  [[nodiscard]] std::uint64_t horizon() const noexcept { return clock_; }
  void sync(std::uint64_t horizon);
  void fail_sync(std::uint64_t horizon);

  /// Decides which changes survive; everything left is durable afterwards.
  void crash(Random& random);

  /// Bypasses all caches: changes both the visible and the durable bytes.
  void overwrite(std::uint64_t offset, Bytes data);

 private:
  void apply_durable();
  void mark(std::uint64_t horizon, State state);

  std::vector<std::byte> seen_;
  std::vector<std::byte> durable_;
  std::list<Change> changes_;  // in the order of submission
  std::uint64_t clock_ = 0;
};

}  // namespace swizzle
