#include "base/runtime/background_task.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>

#include "base/random.h"
#include "base/simulation/simulation.h"

namespace swizzle {
namespace {

using namespace std::chrono_literals;

/// A task that takes the pending work and counts its looks.
struct Taker {
  std::uint64_t there = 0;
  std::uint64_t taken = 0;
  std::uint64_t looks = 0;
  BackgroundTask task;

  void start() {
    task.start("taker", [this] {
      while (!task.is_stopping()) {
        ++looks;
        taken += there;
        there = 0;
        // Parks, as a file transfer does: a wake-up that comes meanwhile ends this park.
        Runtime::current().sleep_until(Runtime::current().now() + 10us);
        task.wait();
      }
    });
  }
};

TEST_CASE("What a background task is woken for is done, whenever that comes", "[background]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Simulation simulation{seed};
    simulation.run([&] {
      Taker taker;
      Random random{seed};
      taker.there = 1;
      taker.task.wake();  // before the task has started
      taker.start();
      std::uint64_t given = 1;
      for (int i = 0; i < 20; ++i) {
        ++taker.there;
        ++given;
        taker.task.wake();
        Runtime& runtime = Runtime::current();
        if (random.one_in(2)) runtime.sleep_until(runtime.now() + 1us * random.between(1, 30));
      }
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
      REQUIRE(taker.taken == given);
      const std::uint64_t looks = taker.looks;
      Runtime::current().sleep_until(Runtime::current().now() + 1s);
      REQUIRE(taker.looks == looks);  // it sleeps until it is woken
      taker.task.stop();
      taker.task.stop();
      taker.task.wake();  // after the task has ended
      taker.there = 1;
      taker.start();
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
      REQUIRE(taker.taken == given + 1);
    });
  }
}

TEST_CASE("A background task waits as long as it says, unless it is to stop", "[background]") {
  Simulation simulation{3};
  simulation.run([&] {
    Runtime& runtime = Runtime::current();
    const TimePoint began = runtime.now();
    Duration waited{};
    Duration paused{};
    BackgroundTask task;
    task.start("waiter", [&] {
      task.wait_until(runtime.now() + 1s);
      task.wait_until(runtime.now() + 1s);
      waited = runtime.now() - began;
      task.pause_until(runtime.now() + 1s);
      paused = runtime.now() - began;
      task.wait();  // woken during the pause
      task.pause_until(runtime.now() + 1h);
    });
    runtime.sleep_until(began + 300ms);
    task.wake();
    runtime.sleep_until(began + 1500ms);
    task.wake();
    runtime.sleep_until(began + 3s);
    REQUIRE(waited >= 1300ms);
    REQUIRE(waited < 1600ms);
    REQUIRE(paused - waited >= 1s);
    task.stop();
    REQUIRE(runtime.now() - began < 4s);
  });
}

}  // namespace
}  // namespace swizzle
