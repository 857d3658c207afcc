#include "base/simulation/simulation.h"

#include <catch2/catch.hpp>
#include <mutex>
#include <set>

#include "base/runtime/latch_count.h"
#include "base/sanitizers.h"
#include "base/simulation/seeded_runs.h"

using namespace swizzle;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

// Returns the order in which three tasks append their names.
std::string interleaving(std::uint64_t seed, std::uint64_t* fingerprint = nullptr) {
  Simulation simulation{seed};
  std::string order;
  simulation.run([&] {
    std::vector<std::unique_ptr<Task>> tasks;
    for (const char name : {'a', 'b', 'c'}) {
      tasks.push_back(Runtime::current().spawn(std::string{name}, [&order, name] {
        for (int i = 0; i < 4; ++i) {
          order += name;
          Runtime::current().yield();
        }
      }));
    }
  });
  if (fingerprint != nullptr) *fingerprint = simulation.fingerprint();
  return order;
}

}  // namespace

TEST_CASE("a seed decides the order, and always the same one", "[simulation]") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    const std::string order = interleaving(seed, &first);
    REQUIRE(order == interleaving(seed, &second));
    REQUIRE(first == second);
    REQUIRE(order.size() == 12);
    orders.insert(order);
  }
  REQUIRE(orders.size() > 60);
}

TEST_CASE("virtual time jumps to the next deadline", "[simulation]") {
  Simulation simulation{3};
  simulation.run([&] {
    auto& runtime = Runtime::current();
    const TimePoint before = runtime.now();
    const auto clock_before = runtime.wall_clock_us();
    runtime.sleep_until(before + 1h);
    REQUIRE(runtime.now() >= before + 1h);
    REQUIRE(runtime.now() < before + 1h + 1ms);
    REQUIRE(runtime.wall_clock_us() - clock_before >= 3'600'000'000);
  });
}

TEST_CASE("parks, deadlines and early wakes in the simulation", "[simulation]") {
  Simulation simulation{{.seed = 5, .spurious_odds = 0}};
  simulation.run([&] {
    auto& runtime = Runtime::current();
    Parker& parker = runtime.parker();
    REQUIRE_FALSE(parker.park_until(runtime.now() + 1ms));
    parker.unpark();
    parker.unpark();
    REQUIRE(parker.park_until(runtime.now() + 1ms));
    REQUIRE_FALSE(parker.park_until(runtime.now() - 1ms));
    auto waker = runtime.spawn("waker", [&] {
      runtime.sleep_until(runtime.now() + 1s);
      parker.unpark();
    });
    const TimePoint before = runtime.now();
    REQUIRE(parker.park_until(before + 1min));
    REQUIRE(runtime.now() < before + 2s);
  });
}

TEST_CASE("a park returns without a wake now and then", "[simulation]") {
  Simulation simulation{7};
  bool early = false;
  simulation.run([&] {
    auto& runtime = Runtime::current();
    for (int i = 0; i < 1000 && !early; ++i) {
      early = runtime.parker().park_until(runtime.now() + 1ms);
    }
  });
  REQUIRE(early);
}

TEST_CASE("a deadlock is reported with every task and its stack", "[simulation]") {
  Simulation simulation{11};
  try {
    simulation.run([] {
      auto stuck = Runtime::current().spawn("forgotten", [] {
        for (;;) Runtime::current().parker().park();
      });
    });
    FAIL("it did not get stuck");
  } catch (const SimulationStuck& error) {
    const std::string what = error.what();
    REQUIRE_THAT(what, Contains("seed 11"));
    REQUIRE_THAT(what, Contains("parked without a deadline"));
    REQUIRE_THAT(what, Contains("\"main\": parked"));
    REQUIRE_THAT(what, Contains("\"forgotten\": parked"));
    REQUIRE_THAT(what, Contains("simulation_test.cpp"));
  }
}

TEST_CASE("endless spinning and endless time are reported", "[simulation]") {
  for (const auto order :
       {Simulation::Order::uniform, Simulation::Order::sticky, Simulation::Order::priorities}) {
    Simulation spinning{{.seed = 1, .order = order, .most_spins = 1000}};
    REQUIRE_THROWS_WITH(spinning.run([] {
      auto sleeper = Runtime::current().spawn("sleeper", [] {
        for (;;) Runtime::current().sleep_until(Runtime::current().now() + 1us);
      });
      for (;;) Runtime::current().relax();
    }),
                        Contains("\"main\" spins without end"));
    Simulation endless{{.seed = 1, .order = order, .longest = 1s}};
    REQUIRE_THROWS_WITH(endless.run([] {
      for (;;) Runtime::current().sleep_until(Runtime::current().now() + 1ms);
    }),
                        Contains("too much virtual time"));
  }
}

TEST_CASE("an exception of any task comes out of run", "[simulation]") {
  Simulation simulation{1};
  REQUIRE_THROWS_WITH(simulation.run([] {
    Runtime::current().spawn("thrower", [] { throw std::runtime_error{"from within"}; })->join();
  }),
                      "from within");
  Simulation second{1};
  REQUIRE_THROWS_WITH(second.run([] {
    auto endless = Runtime::current().spawn("endless", [] {
      for (;;) Runtime::current().yield();
    });
    throw std::runtime_error{"from main"};
  }),
                      Contains("\"main\" ended with an exception while task \"endless\""));
}

TEST_CASE("stop abandons the tasks where they are", "[simulation]") {
  Simulation simulation{1};
  bool unwound = false;
  struct Witness {
    bool& flag;
    ~Witness() { flag = true; }
  };
  const auto outcome = simulation.run([&] {
    const Witness witness{unwound};
    auto worker = Runtime::current().spawn("worker", [&] { Simulation::running()->stop(); });
    worker->join();
  });
  REQUIRE(outcome == Simulation::Outcome::stopped);
  REQUIRE_FALSE(unwound);
}

TEST_CASE("latches are counted per task across switches", "[simulation]") {
  Simulation simulation{1};
  simulation.run([] {
    ++latches_held;
    auto other = Runtime::current().spawn("other", [] {
      REQUIRE(latches_held == 0);
      Runtime::current().parker().park_until(Runtime::current().now() + 1ms);
    });
    for (int i = 0; i < 100; ++i) Runtime::current().relax();
    REQUIRE(latches_held == 1);
    --latches_held;
    other->join();
  });
  REQUIRE(latches_held == 0);
}

TEST_CASE("P27 two tasks inside catch blocks keep their own exceptions", "[simulation]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Simulation simulation{seed};
    simulation.run([] {
      std::vector<std::unique_ptr<Task>> tasks;
      for (int id = 0; id < 3; ++id) {
        tasks.push_back(Runtime::current().spawn("thrower", [id] {
          for (int round = 0; round < 10; ++round) {
            try {
              try {
                throw id;
              } catch (...) {
                Runtime::current().yield();
                throw;
              }
            } catch (int caught) {
              Runtime::current().yield();
              REQUIRE(caught == id);
              REQUIRE(std::uncaught_exceptions() == 0);
            }
          }
        }));
      }
    });
  }
}

TEST_CASE("events come at their time, outside of tasks", "[simulation]") {
  Simulation simulation{2};
  std::string order;
  simulation.run([&] {
    const TimePoint now = simulation.now();
    simulation.call_at(now + 2s, [&] { order += "2"; });
    simulation.call_at(now + 1s, [&] { order += "1"; });
    simulation.sleep_until(now + 1500ms);
    REQUIRE(order == "1");
  });
  REQUIRE(order == "12");
}

TEST_CASE("P1 planted: a wake that is lost between the check and the park is found",
          "[simulation]") {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Simulation simulation{{.seed = seed, .spurious_odds = 0}};
    try {
      simulation.run([] {
        auto& runtime = Runtime::current();
        bool ready = false;
        Parker* waiting = nullptr;
        auto waiter = runtime.spawn("waiter", [&] {
          if (!ready) {
            runtime.yield();  // here the waker finds no waiter
            waiting = &runtime.parker();
            waiting->park();
          }
        });
        auto waker = runtime.spawn("waker", [&] {
          ready = true;
          if (waiting != nullptr) waiting->unpark();
        });
      });
    } catch (const SimulationStuck&) {
      ++found;
    }
  }
  REQUIRE(found > 5);
  REQUIRE(found < 50);
}

TEST_CASE("a planted update lost between read and write is found", "[simulation]") {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    int value = 0;
    Simulation simulation{seed};
    simulation.run([&] {
      std::vector<std::unique_ptr<Task>> tasks;
      for (int id = 0; id < 2; ++id) {
        tasks.push_back(Runtime::current().spawn("adder", [&] {
          const int read = value;
          Runtime::current().relax();
          value = read + 1;
        }));
      }
    });
    if (value != 2) ++lost;
  }
  REQUIRE(lost > 5);
  REQUIRE(lost < 50);
}

// ThreadSanitizer holds signals back while a thread waits for a mutex.
#ifndef SWIZZLE_TSAN
TEST_CASE("a task that blocks the thread is reported, not waited for", "[simulation]") {
  const auto report = run_in_child([] {
    Simulation simulation{{.seed = 4, .longest_turn = 100ms}};
    simulation.run([] {
      std::mutex mutex;
      auto holder = Runtime::current().spawn("holder", [&] {
        const std::lock_guard guard{mutex};
        Runtime::current().sleep_until(Runtime::current().now() + 1s);
      });
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
      const std::lock_guard guard{mutex};
    });
  });
  REQUIRE_FALSE(report.succeeded);
  REQUIRE_THAT(report.output, Contains("task \"main\" has not given way for 100 ms"));
  REQUIRE_THAT(report.output, Contains("\"holder\": parked"));
  REQUIRE_THAT(report.output, Contains("simulation_test.cpp"));
}
#endif
