#include "base/runtime/thread_runtime.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace swizzle;
using namespace std::chrono_literals;

TEST_CASE("a wake before the park is remembered, once", "[runtime]") {
  auto& runtime = Runtime::current();
  Parker& parker = runtime.parker();
  parker.unpark();
  parker.unpark();
  parker.park();
  REQUIRE_FALSE(parker.park_until(runtime.now() + 1ms));
  parker.unpark();
  REQUIRE(parker.park_until(runtime.now() - 1ms));
}

TEST_CASE("park_until returns at its deadline", "[runtime]") {
  auto& runtime = Runtime::current();
  const TimePoint before = runtime.now();
  REQUIRE_FALSE(runtime.parker().park_until(before + 20ms));
  REQUIRE(runtime.now() >= before + 20ms);
  runtime.sleep_until(runtime.now() + 5ms);
  REQUIRE(runtime.now() >= before + 25ms);
}

TEST_CASE("a spawned thread has its runtime and its own parker", "[runtime]") {
  auto& runtime = Runtime::current();
  Parker& mine = runtime.parker();
  Parker* theirs = nullptr;
  Runtime* theirs_runtime = nullptr;
  auto task = runtime.spawn("a name that is longer than fifteen", [&] {
    theirs = &Runtime::current().parker();
    theirs_runtime = &Runtime::current();
    mine.unpark();
  });
  mine.park();
  task->join();
  task->join();
  REQUIRE(theirs != &mine);
  REQUIRE(theirs_runtime == &runtime);
}

TEST_CASE("P4 an unpark after the thread has ended is harmless", "[runtime]") {
  auto& runtime = Runtime::current();
  Parker* gone = nullptr;
  runtime.spawn("short", [&] { gone = &Runtime::current().parker(); })->join();
  gone->unpark();
}

TEST_CASE("P1 two threads hand a token back and forth without losing a wake", "[runtime][stress]") {
  auto& runtime = Runtime::current();
  constexpr int kRounds = 30'000;
  std::atomic<int> turn{0};
  Parker& mine = runtime.parker();
  std::atomic<Parker*> theirs{nullptr};
  auto task = runtime.spawn("echo", [&] {
    Parker& parker = Runtime::current().parker();
    theirs = &parker;
    mine.unpark();
    for (int round = 0; round < kRounds; ++round) {
      while (turn.load() != 2 * round + 1) parker.park();
      turn = 2 * round + 2;
      mine.unpark();
    }
  });
  while (theirs.load() == nullptr) mine.park();
  for (int round = 0; round < kRounds; ++round) {
    turn = 2 * round + 1;
    theirs.load()->unpark();
    // After a lost wake-up this wait would end at its deadline only.
    while (turn.load() != 2 * round + 2) REQUIRE(mine.park_until(runtime.now() + 10s));
  }
}
