#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "lock/internal/entry.h"
#include "lock/internal/seat.h"

namespace swizzle::lock {

/// The private path of intent locks (rule L6). An owner writes an intent into a slot of its seat
/// and then reads the announcements. An owner with a strong request (S, SIX, X) announces it and
/// then reads all slots. One of the two sees the other: the intent withdraws and queues up, or the
/// strong request waits for the slot. Without strong requests, intents write only their own seat.
namespace intent {

inline constexpr IntentSlot kModeBits = 7;
inline constexpr IntentSlot kWanted = 8;  // a strong request wants to be woken

inline constexpr IntentSlot kScopeBits = 15;

constexpr IntentSlot encode(const LockName& name, TableMode mode) noexcept {
  return IntentSlot{raw(name.tree())} << 8 | IntentSlot{std::to_underlying(name.scope())} << 4 |
         std::to_underlying(mode);
}
constexpr TableMode mode_of(IntentSlot slot) noexcept {
  return TableMode{static_cast<std::uint8_t>(slot & kModeBits)};
}
constexpr LockName name_of(IntentSlot slot) noexcept {
  return {0, TreeId{static_cast<std::uint32_t>(slot >> 8)},
          Scope{static_cast<std::uint8_t>((slot >> 4) & kScopeBits)}};
}
constexpr bool is_for(IntentSlot slot, const LockName& name) noexcept {
  return (slot & ~(kModeBits | kWanted)) == encode(name, TableMode::none);
}

/// Returns the mode that the owner of `seat` holds on `name` in an intent slot.
inline ModeCode mode_in_slot(const Seat& seat, const LockName& name) noexcept {
  if (name.scope() == Scope::key) return ModeCode::none;
  for (const auto& slot : seat.intents) {
    const IntentSlot seen = slot.load(std::memory_order_seq_cst);
    if (is_for(seen, name)) return code(mode_of(seen));
  }
  return ModeCode::none;
}

}  // namespace intent

/// Number of strong requests, granted or not. Tables share partitions. A false conflict costs an
/// intent the detour through the shared table, and nothing else.
class StrongRequests {
 public:
  struct alignas(64) Partition {
    std::atomic<std::uint32_t> announced{0};
    /// The highest commit LSN under which a strong lock that allowed writing was released. An
    /// intent takes it into its read watermark, because there were no key locks below that lock
    /// (rule L8).
    std::atomic<std::uint64_t> tag{0};
  };

  [[nodiscard]] Partition& of(const LockName& name) noexcept {
    // Names of tables have no hash whose low bits would distinguish neighbours.
    return partitions_[(name.spread() >> 3) % kPartitions];
  }

 private:
  static constexpr std::size_t kPartitions = 256;
  std::array<Partition, kPartitions> partitions_{};
};

}  // namespace swizzle::lock
