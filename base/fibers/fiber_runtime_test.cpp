#include "base/fibers/fiber_runtime.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "base/runtime/timer_heap.h"

using namespace swizzle;
using namespace std::chrono_literals;

namespace {

// Failures counted by fibers: Catch2's assertions work on the main thread only.
std::atomic<int> wrong{0};
void expect(bool fine) {
  if (!fine) ++wrong;
}

}  // namespace

TEST_CASE("fibers run, park and join, from inside and from outside", "[fiber]") {
  FiberRuntime runtime{{.reactors = 2}};
  wrong = 0;
  auto outer = runtime.spawn("outer", [&] {
    expect(&Runtime::current() == &runtime);
    Parker& mine = runtime.parker();
    const auto here = runtime.this_reactor();
    int value = 0;
    auto same = runtime.spawn_on(here, "same reactor", [&] {
      value = 1;
      mine.unpark();
    });
    while (value != 1) mine.park();
    std::atomic<int> other_value = 0;
    auto other = runtime.spawn_on(1 - here, "other reactor", [&] {
      expect(runtime.this_reactor() == 1 - here);
      other_value = 1;
      mine.unpark();
    });
    while (other_value != 1) mine.park();
    same->join();
    other->join();
    other->join();
  });
  outer->join();
  outer->join();
  REQUIRE(wrong == 0);
}

TEST_CASE("a fiber for which there is no stack is refused, and its reactor goes on", "[fiber]") {
  // Larger than the address space.
  FiberRuntime runtime{{.reactors = 1, .stack_bytes = std::size_t{1} << 50U}};
  std::atomic<int> ran{0};
  std::atomic<int> refused{0};
  for (int i = 0; i < 3; ++i) {
    runtime.spawn_detached(0, "refused", [&] { ++ran; }, [&] { ++refused; });
  }
  for (int wait = 0; refused != 3 && wait < 1000; ++wait) std::this_thread::sleep_for(1ms);
  CHECK(ran == 0);
  CHECK(refused == 3);
}

TEST_CASE("a fiber's deadline passes, or the wake comes first", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  wrong = 0;
  runtime
      .spawn("timed",
             [&] {
               Parker& mine = runtime.parker();
               const TimePoint before = runtime.now();
               expect(!mine.park_until(before + 20ms));
               expect(runtime.now() >= before + 20ms);
               mine.unpark();
               expect(mine.park_until(before));
               auto waker = runtime.spawn("waker", [&] {
                 runtime.sleep_until(runtime.now() + 5ms);
                 mine.unpark();
               });
               expect(mine.park_until(runtime.now() + 10s));
               expect(runtime.now() < before + 5s);
             })
      ->join();
  REQUIRE(wrong == 0);
}

TEST_CASE("many sleepers wake, none before its deadline", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  wrong = 0;
  std::vector<std::unique_ptr<Task>> tasks;
  Random random{5};
  const TimePoint start = runtime.now();
  for (int i = 0; i < 200; ++i) {
    const TimePoint deadline = start + Duration{random.below(20'000'000)};
    tasks.push_back(runtime.spawn("sleeper", [&, deadline] {
      runtime.sleep_until(deadline);
      expect(runtime.now() >= deadline);
    }));
  }
  for (auto& task : tasks) task->join();
  REQUIRE(wrong == 0);
}

TEST_CASE("the timer heap gives out the earliest, whatever is taken out", "[fiber]") {
  Random random{9};
  TimerHeap<TimerHeapNode> heap;
  std::vector<TimerHeapNode> nodes(200);
  std::multimap<TimePoint, TimerHeapNode*> model;
  for (int step = 0; step < 5000; ++step) {
    TimerHeapNode& node = nodes[random.below(nodes.size())];
    const auto known =
        std::ranges::find_if(model, [&](const auto& entry) { return entry.second == &node; });
    if (known == model.end()) {
      const TimePoint deadline{Duration{random.below(1000)}};
      heap.insert(node, deadline);
      model.emplace(deadline, &node);
    } else {
      heap.remove(node);
      heap.remove(node);
      model.erase(known);
    }
    REQUIRE(heap.size() == model.size());
    if (!heap.empty()) REQUIRE(heap.first().deadline == model.begin()->first);
  }
}

TEST_CASE("yield lets every fiber of the reactor run", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  std::string order;
  runtime
      .spawn("main",
             [&] {
               auto a = runtime.spawn("a", [&] {
                 for (int i = 0; i < 3; ++i) {
                   order += 'a';
                   runtime.yield();
                 }
               });
               auto b = runtime.spawn("b", [&] {
                 for (int i = 0; i < 3; ++i) {
                   order += 'b';
                   runtime.yield();
                 }
               });
             })
      ->join();
  REQUIRE(order == "ababab");
}

TEST_CASE("who keeps others waiting goes ahead of those in line, but not for ever", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  std::string order;
  const auto writer_of = [&](char letter) { return [&order, letter] { order += letter; }; };
  runtime
      .spawn("main",
             [&] {
               Parker* holder = nullptr;
               auto ahead = runtime.spawn("holder", [&] {
                 holder = &runtime.parker();
                 holder->set_wakeup_priority(WakeupPriority::high);
                 holder->park();
                 order += 'h';
                 holder->set_wakeup_priority(WakeupPriority::normal);
                 holder->park();
                 order += 'H';
               });
               runtime.yield();
               auto a = runtime.spawn("a", writer_of('a'));
               auto b = runtime.spawn("b", writer_of('b'));
               holder->unpark();
               runtime.yield();
               auto c = runtime.spawn("c", writer_of('c'));
               holder->unpark();
             })
      ->join();
  REQUIRE(order == "habcH");

  // Two fibers that wake each other endlessly must not starve a third one.
  bool ended = false;
  runtime
      .spawn("main",
             [&] {
               std::array<Parker*, 2> parkers{};
               std::vector<std::unique_ptr<Task>> tasks;
               for (std::size_t i = 0; i < parkers.size(); ++i) {
                 tasks.push_back(runtime.spawn("ahead", [&, i] {
                   parkers[i] = &runtime.parker();
                   parkers[i]->set_wakeup_priority(WakeupPriority::high);
                   while (!ended) {
                     if (parkers[1 - i] != nullptr) parkers[1 - i]->unpark();
                     parkers[i]->park();
                   }
                   parkers[1 - i]->unpark();
                 }));
               }
               for (int i = 0; i < 3; ++i) runtime.yield();
               tasks.push_back(runtime.spawn("in line", [&] { ended = true; }));
             })
      ->join();
  REQUIRE(ended);
}

TEST_CASE("fibers read and write files through either engine", "[fiber]") {
  const auto engine = GENERATE(IoEngine::io_uring, IoEngine::threads);
  PosixFileSystem files{engine};
  FiberRuntime runtime{{.reactors = 2, .io_engine = engine}};
  const auto path = std::filesystem::temp_directory_path() / "swizzle-fiber-test";
  wrong = 0;
  {
    auto file = files.open(path, OpenMode::open_or_create, {.direct = true}).value();
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::size_t id = 0; id < 400; ++id) {
      tasks.push_back(runtime.spawn("transfer", [&, id] {
        alignas(4096) std::array<std::byte, 4096> page{};
        page.fill(static_cast<std::byte>(id));
        expect(file->write_at(id * page.size(), page).has_value());
        page.fill(std::byte{0});
        expect(file->read_at(id * page.size(), page).has_value());
        expect(page[4095] == static_cast<std::byte>(id));
        if (id % 50 == 0) expect(file->sync().has_value());
      }));
    }
    for (auto& task : tasks) task->join();
  }
  REQUIRE(files.remove(path));
  REQUIRE(wrong == 0);
}

TEST_CASE("P27 a fiber that caught and left its exception parks; others keep theirs", "[fiber]") {
  FiberRuntime runtime{{.reactors = 1}};
  wrong = 0;
  std::vector<std::unique_ptr<Task>> tasks;
  for (int id = 0; id < 4; ++id) {
    tasks.push_back(runtime.spawn("thrower", [&, id] {
      for (int round = 0; round < 50; ++round) {
        std::exception_ptr kept;
        try {
          throw id;
        } catch (...) {
          kept = std::current_exception();
        }
        runtime.yield();
        try {
          std::rethrow_exception(kept);
        } catch (int caught) {
          expect(caught == id);
        }
        expect(std::uncaught_exceptions() == 0);
      }
    }));
  }
  for (auto& task : tasks) task->join();
  REQUIRE(wrong == 0);
}

TEST_CASE("detached fibers end before their runtime does", "[fiber]") {
  std::atomic<int> ended{0};
  {
    FiberRuntime runtime{{.reactors = 2}};
    for (std::size_t i = 0; i < 20; ++i) {
      runtime.spawn_detached(i % 2, "detached", [&] {
        Runtime::current().sleep_until(Runtime::current().now() + 5ms);
        ++ended;
      });
    }
  }
  REQUIRE(ended == 20);
}

#if !defined(SWIZZLE_ASAN) && !defined(SWIZZLE_TSAN)
TEST_CASE("ten thousand idle fibers take little memory", "[fiber]") {
  constexpr std::size_t kFibers = 10'000;
  const auto resident_bytes = [] {
    std::ifstream status{"/proc/self/statm"};
    std::size_t total = 0;
    std::size_t resident = 0;
    status >> total >> resident;
    return resident * 4096;
  };
  FiberRuntime runtime{{.reactors = 2}};
  const std::size_t before = resident_bytes();
  std::atomic<bool> go{false};
  std::atomic<std::size_t> idle{0};
  std::vector<std::atomic<Parker*>> parkers(kFibers);
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::size_t i = 0; i < kFibers; ++i) {
    tasks.push_back(runtime.spawn("idle", [&, i] {
      parkers[i] = &runtime.parker();
      ++idle;
      while (!go) runtime.parker().park();
    }));
  }
  while (idle != kFibers) Runtime::current().sleep_until(Runtime::current().now() + 1ms);
  const std::size_t each = (resident_bytes() - before) / kFibers;
  CAPTURE(each);
  REQUIRE(each < 16 << 10);
  go = true;
  for (auto& parker : parkers) parker.load()->unpark();
  for (auto& task : tasks) task->join();
}
#endif

TEST_CASE("P1 tokens travel between reactors and threads without losing a wake",
          "[fiber][stress]") {
  const auto spin = GENERATE(0us, 20us);
  FiberRuntime runtime{{.reactors = 2, .longest_spin = spin}};
  constexpr int kPairs = 8;
  constexpr int kRounds = 3000;
  wrong = 0;
  struct Channel {
    std::atomic<int> turn{0};
    std::array<std::atomic<Parker*>, 2> parkers{};
  };
  std::vector<Channel> channels(kPairs);
  std::vector<std::unique_ptr<Task>> tasks;
  const auto play = [&](Channel& channel, int side) {
    auto& own = Runtime::current();
    Parker& mine = own.parker();
    channel.parkers[static_cast<std::size_t>(side)] = &mine;
    auto& theirs = channel.parkers[static_cast<std::size_t>(1 - side)];
    for (int round = 0; round < kRounds; ++round) {
      const TimePoint deadline = own.now() + 20s;
      while (channel.turn != 2 * round + side) {
        if (round % 3 == 0) {
          expect(mine.park_until(deadline) || own.now() < deadline);
        } else if (round % 3 == 1) {
          mine.park_until(own.now() + 50us);
        } else if (theirs.load() == nullptr) {
          mine.park_until(own.now() + 50us);
        } else {
          mine.park();
        }
      }
      ++channel.turn;
      if (Parker* other = theirs.load()) other->unpark();
    }
  };
  for (int pair = 0; pair < kPairs; ++pair) {
    Channel& channel = channels[static_cast<std::size_t>(pair)];
    tasks.push_back(runtime.spawn_on(0, "left", [&] { play(channel, 0); }));
    if (pair % 4 == 0) {
      tasks.push_back(Runtime::current().spawn("right", [&] { play(channel, 1); }));
    } else {
      tasks.push_back(runtime.spawn_on(pair % 2 == 0 ? 0 : 1, "right", [&] { play(channel, 1); }));
    }
  }
  for (auto& task : tasks) task->join();
  REQUIRE(wrong == 0);
}

namespace {

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

TEST_CASE("a reactor that may spin for long sleeps while its fibers wait for long", "[fiber]") {
  wrong = 0;
  FiberRuntime runtime{{.reactors = 1, .longest_spin = 10ms}};
  runtime
      .spawn("waiter",
             [&] {
               // Short waits first, so that spinning looks worth it.
               for (int i = 0; i < 100; ++i) runtime.sleep_until(runtime.now() + 20us);
               const double before = processor_seconds();
               for (int i = 0; i < 10; ++i) runtime.sleep_until(runtime.now() + 50ms);
               expect(processor_seconds() - before < 0.06);
             })
      ->join();
  REQUIRE(wrong == 0);
}

TEST_CASE("fibers come and go while others transfer", "[fiber][stress]") {
  FiberRuntime runtime{{.reactors = 2}};
  PosixFileSystem files;
  const auto path = std::filesystem::temp_directory_path() / "swizzle-fiber-stress";
  wrong = 0;
  {
    auto file = files.open(path, OpenMode::open_or_create, {.direct = true}).value();
    REQUIRE(file->allocate(0, 64 * 4096));
    std::vector<std::unique_ptr<Task>> drivers;
    for (std::size_t driver = 0; driver < 4; ++driver) {
      drivers.push_back(runtime.spawn("driver", [&, driver] {
        for (int round = 0; round < 100; ++round) {
          std::vector<std::unique_ptr<Task>> children;
          for (std::size_t child = 0; child < 8; ++child) {
            children.push_back(runtime.spawn("child", [&, driver, child] {
              alignas(4096) std::array<std::byte, 4096> page{};
              page.fill(static_cast<std::byte>(driver));
              const std::uint64_t offset = (driver * 8 + child) * page.size();
              expect(file->write_at(offset, page).has_value());
              expect(file->read_at(offset, page).has_value());
              expect(page[17] == static_cast<std::byte>(driver));
            }));
          }
        }
      }));
    }
    for (auto& driver : drivers) driver->join();
  }
  REQUIRE(files.remove(path));
  REQUIRE(wrong == 0);
}
