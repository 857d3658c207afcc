#include "storage/replay_gate.h"

#include "base/runtime/asked_to_end.h"

namespace swizzle {
namespace {

constexpr Duration kLooksEvery = std::chrono::milliseconds{1};

void pause_for_gate() noexcept {
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + kLooksEvery);
}

}  // namespace

bool ReplayGate::enter() noexcept {
  while (true) {
    // seq_cst, as in close(): either this sees the gate closed, or close() sees the caller inside.
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (!is_closed_.load(std::memory_order_seq_cst)) [[likely]]
      return true;
    leave();
    if (is_asked_to_end() || is_shut_.load(std::memory_order_seq_cst)) return false;
    pause_for_gate();
  }
}

bool ReplayGate::enter_to_end() noexcept {
  const UnendedScope whatever_is_asked;
  return enter();
}

bool ReplayGate::close(Duration patience) noexcept {
  const TimePoint end = Runtime::current().now() + patience;
  is_closed_.store(true, std::memory_order_seq_cst);
  // Acquire: what the readers have done comes before what redo does.
  while (inside_.load(std::memory_order_seq_cst) != 0) {
    if (Runtime::current().now() >= end) {
      open();
      return false;
    }
    pause_for_gate();
  }
  return true;
}

}  // namespace swizzle
