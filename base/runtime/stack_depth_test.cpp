#include "base/runtime/stack_depth.h"

#include <sys/mman.h>

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "base/runtime/thread_runtime.h"
#include "base/simulation/simulation.h"

using namespace swizzle;

namespace {

/// Recurses until check reports a low stack; overflows if it reports too late. Returns the bytes
/// used.
__attribute__((noinline)) std::size_t descend(std::uintptr_t from) {
  std::array<volatile unsigned char, 512> frame{};
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::size_t depth = stack_is_low() ? from - here : descend(from);
  return depth + frame[0];
}

// The last frame begins above the line and ends below it.
constexpr std::size_t kFrame = 8 << 10;

std::size_t usable_stack() {
  const std::size_t left = stack_left();
  const std::size_t used = descend(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  return used >= left && used < left + kFrame ? used : 0;
}

/// Returns the number of resident pages of the stack below the caller's frame.
std::size_t pages_in_memory(std::size_t bytes) {
  constexpr std::uintptr_t kPageBytes = 4096;
  const auto here =
      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / kPageBytes * kPageBytes;
  std::vector<unsigned char> resident(bytes / kPageBytes);
  const int failed = mincore(reinterpret_cast<void*>(here - bytes), bytes, resident.data());
  std::size_t count = 0;
  for (const unsigned char page : resident) count += page & 1U;
  return failed != 0 ? SIZE_MAX : count;
}

constexpr std::size_t kStack = FiberStack::kDefaultBytes;

}  // namespace

TEST_CASE("recursion knows how much stack is left on threads, fibers and in simulation",
          "[runtime][fiber][simulation]") {
  std::size_t on_this = usable_stack();
  CHECK(on_this > 0);

  std::size_t on_thread = 0;
  ThreadRuntime::of_the_process().spawn("deep", [&] { on_thread = usable_stack(); })->join();
  CHECK(on_thread > 0);

  std::size_t on_fiber = 0;
  std::size_t after_it = 0;
  {
    FiberRuntime runtime{{.reactors = 1}};
    runtime
        .spawn("deep",
               [&] {
                 on_fiber = usable_stack();
                 // The bounds are restored with the fiber.
                 runtime.spawn("beside", [] {})->join();
                 after_it = usable_stack();
               })
        ->join();
  }
  CHECK(on_fiber > kStack - kStackReserve - (64 << 10));
  CHECK(on_fiber <= kStack - kStackReserve + kFrame);
  CHECK(after_it == on_fiber);

  std::size_t in_simulation = 0;
  Simulation simulation{{.seed = 1, .stack_bytes = 3 << 20}};
  simulation.run([&] { in_simulation = usable_stack(); });
  CHECK(in_simulation > (3 << 20) - kStackReserve - (64 << 10));
  CHECK(usable_stack() == on_this);
}

TEST_CASE("a fiber gives the memory of a deep call back", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  constexpr std::size_t kBelow = kStack / 2;
  std::size_t before = 0;
  std::size_t deep = 0;
  std::size_t after = 0;
  runtime
      .spawn("deep",
             [&] {
               before = pages_in_memory(kBelow);
               usable_stack();
               deep = pages_in_memory(kBelow);
               runtime.release_unused_stack();
               after = pages_in_memory(kBelow);
             })
      ->join();
  CHECK(before < 8);
  CHECK(deep == kBelow / 4096);
  CHECK(after < 8);
}
