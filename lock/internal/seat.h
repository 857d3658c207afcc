#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "base/runtime/spin_latch.h"
#include "lock/internal/entry.h"

namespace swizzle::lock {

/// An intent lock in a seat's slot: the thing it is on, the mode, and whether somebody wants to be
/// woken when it goes. 0 is a free slot.
using IntentSlot = std::uint64_t;

/// The part of an owner that others may see: entries point here. Seats are never freed while the
/// manager lives, only taken and left, so a late waker finds valid memory (pitfall 4).
struct alignas(64) Seat {
  static constexpr std::size_t kIntentSlots = 16;

  std::uint32_t number = 0;   // immutable
  Seat* next_left = nullptr;  // for the registry

  // Waking. A waker may come after the wait has ended: parkers are recycled and never freed, and a
  // wake too many does no harm (rule Base 2).
  std::atomic<Parker*> parker{nullptr};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> suspect{false};  // somebody found a cycle that this owner should break
  // The waiting request that should go to the end of its queue; how often this one's has done so.
  std::atomic<const Entry*> give_way{nullptr};
  std::atomic<std::uint32_t> gave_way{0};

  // For the deadlock search and the views.
  std::atomic<const Entry*> waiting{nullptr};
  std::atomic<TimePoint::rep> waiting_since{0};
  std::atomic<TxnId> txn{TxnId::none};
  std::atomic<std::int32_t> label{0};

  /// The activity of the waiting owner, in its own words, for deadlock reports. Written when a wait
  /// begins.
  BasicSpinLatch<NoPauses> doing_latch;
  std::string doing;

  /// The highest commit LSN under which this seat has released locks. Never goes back: whoever
  /// locks a whole table takes the maximum of all seats into its read watermark.
  std::atomic<std::uint64_t> last_released{0};

  alignas(64) std::array<std::atomic<IntentSlot>, kIntentSlots> intents{};

  /// Wakes the owner if it waits. A wake too many is harmless: waiters look again.
  void wake() noexcept;
};

/// All seats of a manager, in the order of their numbers.
class SeatRegistry {
 public:
  SeatRegistry() = default;
  SeatRegistry(const SeatRegistry&) = delete;
  SeatRegistry& operator=(const SeatRegistry&) = delete;
  ~SeatRegistry();

  [[nodiscard]] Seat& take();
  /// Pre: the seat holds nothing and waits for nothing.
  void leave(Seat& seat) noexcept;

  [[nodiscard]] std::uint32_t size() const noexcept {
    return count_.load(std::memory_order_seq_cst);
  }
  /// Pre: number < size() as read before.
  [[nodiscard]] Seat& operator[](std::uint32_t number) const noexcept {
    return segments_[number / kSegment].load(std::memory_order_acquire)[number % kSegment];
  }

 private:
  static constexpr std::uint32_t kSegment = 64;
  static constexpr std::uint32_t kSegments = 1024;

  std::array<std::atomic<Seat*>, kSegments> segments_{};
  std::atomic<std::uint32_t> count_{0};
  BasicSpinLatch<NoPauses> latch_;
  Seat* left_ = nullptr;  // latch_; the seats that can be taken, linked by next_left
};

}  // namespace swizzle::lock
