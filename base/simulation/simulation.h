#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/runtime/runtime.h"
#include "base/runtime/stack_pool.h"

namespace swizzle {

/// Thrown when the simulated tasks cannot go on. what() has the reason, the seed, and every task
/// with its state and its stack.
class SimulationStuck : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs tasks on one thread, one at a time, in an order that the seed decides, with a clock of its
/// own. Everything that goes through Runtime is then repeated exactly for the same seed.
///
/// A task loses the processor only in park, park_until, yield, relax and Task::join; between these
/// it runs undisturbed. Time passes a little with every switch, and jumps to the next deadline or
/// event when no task can run. A park returns early now and then, as Parker allows.
///
/// run() throws SimulationStuck when all tasks are parked and no event is left, when only spinning
/// tasks run, or when a limit of the options is passed.
class Simulation final : public Runtime {
 public:
  /// How the next task is chosen among those that can run.
  enum class Order : std::uint8_t {
    /// One of the others, by the seed.
    by_seed,
    /// Any, with equal odds, at every switch.
    uniform,
    /// The running one goes on at most yields: long undisturbed stretches.
    sticky,
    /// Some tasks starve while others run, and the roles change now and then.
    priorities,
  };
  struct Options {
    std::uint64_t seed = 1;
    Order order = Order::by_seed;
    /// Simulated tasks in a sanitizer build need more than fibers in a release build.
    std::size_t stack_bytes = std::size_t{4} << 20;
    /// One in so many parks returns without a wake; 0: none does.
    std::uint64_t spurious_odds = 40;
    /// Number of times that one task may yield or relax without ever parking.
    std::uint64_t most_spins = 2'000'000;
    std::uint64_t most_switches = 200'000'000;
    /// Virtual time that may pass.
    Duration longest = std::chrono::hours{24};
    /// Real time between two switches after which the process is ended with a report: a task holds
    /// the thread, most likely in a std::mutex that another task has locked. 0: no limit.
    std::chrono::milliseconds longest_turn = std::chrono::minutes{3};
  };
  enum class Outcome : std::uint8_t {
    /// Every task has returned.
    finished,
    /// stop() was called; the remaining tasks were abandoned.
    stopped,
  };

  explicit Simulation(Options options);
  explicit Simulation(std::uint64_t seed) : Simulation(Options{.seed = seed}) {}
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() override;

  /// Runs `body` as the first task until every task has returned. An exception that leaves a task
  /// ends the simulation and comes out here, so tests may assert inside of tasks. Pre: not inside
  /// a simulation. May be called again after an Outcome::finished.
  Outcome run(std::function<void()> body);

  /// Ends the simulation as a power cut would: no task runs again and none of their destructors;
  /// their memory is leaked. Does not return when a task calls it; an event may call it too.
  void stop() noexcept;

  /// Runs `event` at that time on the simulation's own stack. It must not park, yield or throw.
  void call_at(TimePoint when, std::function<void()> event);

  /// The simulation whose task is running on this thread, or null.
  static Simulation* running() noexcept;

  [[nodiscard]] std::uint64_t seed() const noexcept { return options_.seed; }
  [[nodiscard]] std::uint64_t switches() const noexcept {
    return switches_.load(std::memory_order_relaxed);
  }
  /// Equal for two runs exactly when their tasks ran in the same order: a test of determinism.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// One line per task that has not returned.
  [[nodiscard]] std::string describe_tasks() const;

  Parker& parker() noexcept override;
  std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) override;
  TimePoint now() noexcept override { return now_; }
  std::int64_t wall_clock_us() noexcept override;
  std::uint64_t random() noexcept override { return values_(); }
  void yield() noexcept override;
  void relax() noexcept override;
  std::size_t others_ready() noexcept override { return ready_.size(); }
  IoBackend* io_backend() noexcept override;

 private:
  class SimulatedTask;
  class Handle;
  struct Timer {
    SimulatedTask* task;  // null: an event
    std::function<void()> event;
  };
  using Timers = std::multimap<TimePoint, Timer>;

  std::shared_ptr<SimulatedTask> start(std::string name, std::function<void()> body);
  void loop();
  void run_due_timers();
  SimulatedTask& choose();
  SimulatedTask& by_priority() noexcept;
  void run_for_one_turn(SimulatedTask& task);
  void make_ready(SimulatedTask& task);
  void spin_once() noexcept;
  void switch_away() noexcept;
  void wait_until_finished(SimulatedTask& task) noexcept;
  void abandon_all() noexcept;
  void give_up(std::string why) noexcept;
  [[nodiscard]] std::string stacks_of_tasks();
  [[nodiscard]] std::string describe_blocked() const;

  Options options_;
  Order order_;
  Random choices_;
  Random values_;
  StackPool stacks_;
  TimePoint started_;
  TimePoint now_;
  Timers timers_;
  std::vector<std::shared_ptr<SimulatedTask>> tasks_;
  std::vector<SimulatedTask*> ready_;
  SimulatedTask* current_ = nullptr;
  SimulatedTask* previous_ = nullptr;
  std::size_t unfinished_ = 0;
  /// Written by the simulation's thread, read by the watchdog as well.
  std::atomic<std::uint64_t> switches_{0};
  std::uint64_t fingerprint_ = 0;
  std::exception_ptr failure_;
  std::string stuck_;
  bool stopped_ = false;
  bool over_ = false;
  bool tracing_stacks_ = false;
  std::thread::id thread_;
};

}  // namespace swizzle
