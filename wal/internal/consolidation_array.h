#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace swizzle::wal {

/// Allocates ranges of the log. A thread that finds the tail's mutex free takes a range at once.
/// The others join a slot, and the first to join takes one range for the whole group. So the mutex
/// changes hands once per group and not once per record.
///
/// No thread waits here for room: credits (LogBudget) are taken before, so a group cannot be larger
/// than the buffer. Nor for a slower predecessor: a record publishes itself by its first eight
/// bytes, and the writer walks over the published records (LogBuffer).
///
/// Lock order: the mutex is a leaf and held for a few instructions, without any call.
class ConsolidationArray {
 public:
  static constexpr std::size_t kMaxSlots = 16;

  /// Pre: 1 <= slots <= kMaxSlots.
  explicit ConsolidationArray(std::size_t slots) noexcept;

  /// Moves `tail` forward by `bytes`, alone or within a group, and returns where the caller's part
  /// begins. Pre: only this object moves `tail`; all credits together stay below 4 GiB.
  std::uint64_t allot(std::atomic<std::uint64_t>& tail, std::size_t bytes) noexcept;

  /// Groups of more than one member, and their members.
  struct Statistics {
    std::uint64_t groups = 0;
    std::uint64_t members = 0;
  };
  [[nodiscard]] Statistics statistics() const noexcept {
    return {groups_.load(std::memory_order_relaxed), members_.load(std::memory_order_relaxed)};
  }

 private:
  // One group at a time. `state` holds the bytes in its low half, the members above them, and the
  // phase in its top bits: open (0: joinable), closed (the leader is taking the range), and ready
  // (`base` is valid). The last member to leave opens the slot for the next group, so no member can
  // mistake a later group's base for its own.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> state{0};
    std::atomic<std::uint64_t> base{0};
    std::atomic<std::uint32_t> members_left{0};
  };

  std::uint64_t allot_alone(std::atomic<std::uint64_t>& tail, std::size_t bytes) noexcept;
  std::uint64_t lead(Slot& slot, std::atomic<std::uint64_t>& tail) noexcept;
  static std::uint64_t follow(Slot& slot) noexcept;
  static void leave(Slot& slot) noexcept;

  std::size_t slot_count_;
  alignas(64) std::mutex mutex_;
  std::array<Slot, kMaxSlots> slots_;
  /// Written by leaders only, under contention.
  alignas(64) std::atomic<std::uint64_t> groups_{0};
  std::atomic<std::uint64_t> members_{0};
};

}  // namespace swizzle::wal
