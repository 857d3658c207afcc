#include "base/runtime/long_work.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/fibers/fiber_runtime.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/thread_runtime.h"

using namespace swizzle;
using namespace std::chrono_literals;

namespace {

struct Ended : std::runtime_error {
  Ended() : std::runtime_error{"ended"} {}
};

/// Asks the work to end at the given check.
class Patience final : public Overseer {
 public:
  explicit Patience(int times) : left_(times) {}
  void look() override {
    if (--left_ == 0) throw Ended{};
  }
  [[nodiscard]] int left() const noexcept { return left_; }

 private:
  int left_;
};

/// Works until it is asked to end.
void work_for_ever() {
  for (;;) yield_point(100);
}

void keep_the_thread(Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The process's threads, with a count of their yields.
class CountedYields final : public Runtime {
 public:
  Parker& parker() noexcept override { return threads().parker(); }
  std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) override {
    return threads().spawn(std::move(name), std::move(body));
  }
  TimePoint now() noexcept override { return threads().now(); }
  std::int64_t wall_clock_us() noexcept override { return threads().wall_clock_us(); }
  std::uint64_t random() noexcept override { return threads().random(); }
  void yield() noexcept override { ++yields; }
  void relax() noexcept override { threads().relax(); }
  bool owns_its_thread() noexcept override { return owns; }

  bool owns = true;
  int yields = 0;

 private:
  static ThreadRuntime& threads() { return ThreadRuntime::of_the_process(); }
};

constexpr int kLowestPriority = 19;

int priority_here() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

}  // namespace

TEST_CASE("work that is overseen ends when its overseer says so", "[long_work]") {
  Patience patience{3};
  const OversightScope scope{patience};
  REQUIRE_THROWS_AS(work_for_ever(), Ended);
  CHECK(patience.left() == 0);
}

TEST_CASE("oversight ends with its scope, and scopes nest", "[long_work]") {
  Patience outer{1'000'000};
  const OversightScope outside{outer};
  {
    Patience inner{1};
    const OversightScope inside{inner};
    REQUIRE_THROWS_AS(work_for_ever(), Ended);
  }
  const int before = outer.left();
  yield_point(2 * kWorkBetweenRests);
  CHECK(outer.left() == before - 1);
}

TEST_CASE("long work yields to the others of its thread, and not where it has one of its own",
          "[long_work]") {
  CountedYields runtime;
  const RuntimeScope in{runtime};
  Patience patience{1'000'000};
  const OversightScope scope{patience};
  for (const bool owns : {true, false}) {
    runtime.owns = owns;
    const int before = patience.left();
    for (int i = 0; i < 100; ++i) yield_point(kWorkBetweenRests);
    CHECK(patience.left() < before - 50);
    CHECK((runtime.yields > 50) == !owns);
  }
}

TEST_CASE("under a latch and in a catch block work goes on unseen", "[long_work]") {
  Patience patience{1};
  const OversightScope scope{patience};
  ++latches_held;
  yield_point(2 * kWorkBetweenRests);
  --latches_held;
  try {
    throw std::runtime_error{"in flight"};
  } catch (const std::runtime_error&) {
    yield_point(2 * kWorkBetweenRests);
  }
  CHECK(patience.left() == 1);
  REQUIRE_THROWS_AS(yield_point(2 * kWorkBetweenRests), Ended);
}

TEST_CASE("fibers run beside one that works long", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<int> turns{0};
  std::atomic<bool> ended{false};
  class UntilTurns final : public Overseer {
   public:
    explicit UntilTurns(std::atomic<int>& turns) : turns_(turns) {}
    void look() override {
      if (turns_ >= 100) throw Ended{};
    }

   private:
    std::atomic<int>& turns_;
  } overseer{turns};
  auto worker = runtime.spawn("worker", [&] {
    const OversightScope scope{overseer};
    try {
      work_for_ever();
    } catch (const Ended&) {
      ended = true;
    }
  });
  auto beside = runtime.spawn("beside", [&] {
    for (int i = 0; i < 100; ++i) {
      ++turns;
      runtime.yield();
    }
  });
  worker->join();
  beside->join();
  CHECK(ended);
}

TEST_CASE("a reactor counts turns that keep others waiting", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  class Listener final : public StallListener {
   public:
    void stalled(Duration turn) noexcept override { longest = turn; }
    Duration longest{};
  } listener;
  runtime
      .spawn("short",
             [&] {
               const StallScope scope{listener};
               runtime.yield();
             })
      ->join();
  const Stalls before = runtime.stalls_of(0);
  runtime
      .spawn("long",
             [&] {
               const StallScope scope{listener};
               keep_the_thread(60ms);
               runtime.yield();
             })
      ->join();
  const Stalls after = runtime.stalls_of(0);
  CHECK(after.count == before.count + 1);
  CHECK(after.total - before.total > 40ms);
  CHECK(listener.longest > 40ms);
  CHECK(after.long_turns > before.long_turns);
  CHECK(after.longest_turn > 40ms);
}

TEST_CASE("a turn that is no stall may be a long one", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  runtime
      .spawn("long",
             [&] {
               keep_the_thread(5ms);
               runtime.yield();
             })
      ->join();
  CHECK(runtime.stalls_of(0).long_turns >= 1);
  CHECK(runtime.stalls_of(0).longest_turn >= 5ms);
}

namespace {

/// Returns how often another fiber of the reactor runs during `work`.
int turns_beside(const std::function<void()>& work) {
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<bool> over{false};
  int turns = 0;
  auto worker = runtime.spawn("worker", [&] {
    runtime.yield();
    work();
    over = true;
  });
  auto beside = runtime.spawn("beside", [&] {
    while (!over) {
      ++turns;
      runtime.yield();
    }
  });
  worker->join();
  beside->join();
  return turns;
}

/// Work whose steps take a hundred times longer than counted.
template <class Count>
void slow_steps(const Count& count) {
  for (int step = 0; step < 400; ++step) {
    keep_the_thread(100us);
    count(kUnknownWork);
  }
}

}  // namespace

TEST_CASE("work that was guessed too short rests by the clock", "[long_work][fiber]") {
  const int turns = turns_beside([] {
    Patience patience{1'000'000};
    const OversightScope scope{patience};
    slow_steps([](std::size_t units) { yield_point(units); });
  });
  // By the count alone there would be six turns.
  CHECK(turns >= 50);
}

TEST_CASE("what must come to its end lets others run and asks nobody", "[long_work][fiber]") {
  const int turns = turns_beside([] {
    Patience none{1};
    const OversightScope scope{none};
    slow_steps([](std::size_t units) { unending_yield_point(units); });
    CHECK(none.left() == 1);
  });
  CHECK(turns >= 50);
}

TEST_CASE("work aside keeps no fiber waiting, and throws into its caller", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<int> turns{0};
  std::atomic<int> seen{0};
  std::atomic<bool> threw{false};
  std::atomic<bool> aside{false};
  auto worker = runtime.spawn("worker", [&] {
    runtime.run_aside([&] {
      keep_the_thread(100ms);
      aside = &Runtime::current() != &runtime;
    });
    seen = turns.load();
    try {
      runtime.run_aside([] { throw Ended{}; });
    } catch (const Ended&) {
      threw = true;
    }
  });
  auto beside = runtime.spawn("beside", [&] {
    while (turns < 1000) {
      ++turns;
      runtime.yield();
    }
  });
  worker->join();
  beside->join();
  CHECK(aside);
  CHECK(seen == 1000);
  CHECK(threw);
}

TEST_CASE("work aside has its caller's overseer", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  std::atomic<bool> ended{false};
  runtime
      .spawn("worker",
             [&] {
               Patience patience{3};
               const OversightScope scope{patience};
               try {
                 runtime.run_aside(work_for_ever);
               } catch (const Ended&) {
                 ended = true;
               }
             })
      ->join();
  CHECK(ended);
}

TEST_CASE("work that cannot be ended is left to itself", "[long_work][fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  const auto goes_on = std::make_shared<std::atomic<bool>>(true);
  const auto is_over = std::make_shared<std::atomic<bool>>(false);
  const auto gave_way = std::make_shared<std::atomic<bool>>(false);
  const int usual = priority_here();
  std::atomic<bool> ended{false};
  std::atomic<bool> answered{false};
  runtime
      .spawn("worker",
             [&] {
               Patience patience{2};
               const OversightScope scope{patience};
               try {
                 runtime.run_abandonable([goes_on, is_over, gave_way, usual] {
                   while (*goes_on) {
                     *gave_way = priority_here() > usual;
                     std::this_thread::yield();
                   }
                   *is_over = true;
                 });
               } catch (const Ended&) {
                 ended = true;
               }
               Patience more{1'000'000};
               const OversightScope inner{more};
               runtime.run_abandonable([&answered] { answered = true; });
             })
      ->join();
  CHECK(ended);
  CHECK(answered);
  CHECK_FALSE(*is_over);
  // A process with the lowest priority cannot lower it.
  if (usual < kLowestPriority) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!*gave_way && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(*gave_way);
  }
  *goes_on = false;
  while (!*is_over) std::this_thread::yield();
}
