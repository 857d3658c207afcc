#pragma once

#include <atomic>
#include <cstdint>

namespace swizzle::lock {

/// The steps of the protocol between which another thread may run. Tests stop a thread there, or
/// yield to the simulation's seeded choice.
enum class PausePoint : std::uint8_t {
  after_append,         // the request is in the list, its predecessors not yet read
  after_publish,        // the waiter can be woken, its predecessors not yet read again
  before_sleep,         // between the last look and the sleep
  before_withdraw,      // a wait has failed, its request is still queued
  after_obsolete,       // released, no waiter woken yet
  before_unpark,        // the waker knows which owner to wake
  after_mark,           // the entry is marked, still linked
  before_unlink,        // the place of the entry was found
  before_intent,        // no strong request was seen, the intent is not yet in its slot
  after_intent,         // an intent is in its slot, strong requests not yet looked at
  after_strong,         // a strong request is announced, the slots not yet looked at
  before_intent_clear,  // an intent is about to leave its slot
  inside_walk,          // an entry of another owner is being read
  inside_search,        // the deadlock search holds a path
  before_verify,        // a cycle was found and not yet confirmed
};
inline constexpr int kPausePoints = 15;

#ifdef SWIZZLE_PAUSE_POINTS
using PauseHook = void (*)(PausePoint point);
/// For tests only; null lets everything run.
inline std::atomic<PauseHook> pause_hook{nullptr};
inline void pause_point(PausePoint point) {
  if (PauseHook hook = pause_hook.load(std::memory_order_acquire)) hook(point);
}
#else
constexpr void pause_point(PausePoint /*point*/) noexcept {}
#endif

}  // namespace swizzle::lock
