#include "base/runtime/runtime.h"

#include <cxxabi.h>

#include <utility>

#include "base/runtime/latch_count.h"
#include "base/runtime/park_rules.h"
#include "base/runtime/thread_runtime.h"

namespace swizzle {
namespace {

thread_local Runtime* current_runtime = nullptr;

// Per-thread exception state of the C++ ABI, which <cxxabi.h> leaves opaque.
struct ExceptionGlobals {
  void* caught;
  unsigned int uncaught;
};

bool no_exception_about() noexcept {
  const auto* exceptions = reinterpret_cast<const ExceptionGlobals*>(abi::__cxa_get_globals());
  return exceptions->caught == nullptr && exceptions->uncaught == 0;
}

}  // namespace

Runtime& Runtime::current() noexcept {
  return current_runtime != nullptr ? *current_runtime : ThreadRuntime::of_the_process();
}

void Runtime::sleep_until(TimePoint deadline) noexcept {
  Parker& sleeper = parker();
  while (now() < deadline) sleeper.park_until(deadline);
}

RuntimeScope::RuntimeScope(Runtime& runtime) noexcept
    : previous_(std::exchange(current_runtime, &runtime)) {}

RuntimeScope::~RuntimeScope() {
  current_runtime = previous_;
}

OversightScope::OversightScope(Overseer& overseer) noexcept
    : parker_(Runtime::current().parker()), previous_(std::exchange(parker_.overseer, &overseer)) {}

StallScope::StallScope(StallListener& listener) noexcept : parker_(Runtime::current().parker()) {
  parker_.stall_listener = &listener;
}

void assert_may_park() noexcept {
  assert_no_latch_held();
  INVARIANT(no_exception_about());
}

bool may_park() noexcept {
  return latches_held == 0 && no_exception_about();
}

}  // namespace swizzle
