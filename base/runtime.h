#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace swizzle {

/// Time as the runtime sees it: the monotonic clock, or virtual time in the simulation.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class IoBackend;

/// Where a woken fiber stands among those of its thread that are ready.
enum class Turn : std::uint8_t {
  in_line,
  ahead,  ///< for who keeps others waiting while it waits itself: who holds locks, say
};

/// Suspends and resumes one thread or fiber. Every wait below the server goes through it.
/// Exactly one pending wake is remembered: an unpark() before the park() makes that park() return
/// at once. A park may also return without an unpark, so callers loop on their own condition.
class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  virtual ~Parker() = default;

  /// Pre: called by the owner; no latch held.
  virtual void park() noexcept = 0;
  /// Returns whether it was woken; false means that `deadline` passed.
  virtual bool park_until(TimePoint deadline) noexcept = 0;
  /// Callable from any thread, and late: parkers live as long as their runtime and longer (they are
  /// recycled, not freed), so after its owner has ended it at worst wakes another for nothing.
  virtual void unpark() noexcept = 0;
  /// For the owner's next parks. Threads are the system's to schedule: there it does nothing.
  virtual void take_turn(Turn /*turn*/) noexcept {}
};

/// A spawned thread or fiber; joins when destroyed.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;
  /// Parks the caller until the body has returned. Idempotent.
  virtual void join() noexcept = 0;
};

/// Where code runs: threads, fibers or the simulation. One is current for every thread.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  /// The runtime of the calling thread. A thread that nobody spawned belongs to the thread runtime.
  static Runtime& current() noexcept;

  /// The parker of the calling thread or fiber.
  virtual Parker& parker() noexcept = 0;
  /// Runs `body` beside the caller. `name` shows in logs, debuggers and simulation traces.
  virtual std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) = 0;
  virtual TimePoint now() noexcept = 0;
  /// Microseconds since 1970-01-01 UTC, for people and for time travel by time.
  virtual std::int64_t wall_clock_us() noexcept = 0;
  /// Seeded in the simulation, from the system's entropy elsewhere.
  virtual std::uint64_t random() noexcept = 0;
  /// Lets others of this runtime run. Allowed under a latch only in the simulation.
  virtual void yield() noexcept = 0;
  /// For spinning on a latch: a pause instruction, or a yield where the holder may be a fiber of
  /// the same thread (the simulation).
  virtual void relax() noexcept = 0;
  /// What carries file transfers for the calling thread or fiber; null: the file system's own.
  virtual IoBackend* io_backend() noexcept { return nullptr; }
  /// How many others of the calling fiber's thread could run now. Of a thread: none.
  virtual std::size_t others_ready() noexcept { return 0; }
  /// Whether the caller has an operating system thread to itself, so that a system call that blocks
  /// delays nobody else.
  virtual bool owns_its_thread() noexcept { return false; }
  /// Parks the caller until `deadline`.
  void sleep_until(TimePoint deadline) noexcept;
};

/// Makes a runtime current for the calling thread while it lives. Runtimes use it for the threads
/// they start; tests use it to enter a simulation.
class RuntimeScope {
 public:
  explicit RuntimeScope(Runtime& runtime) noexcept;
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;
  ~RuntimeScope();

 private:
  Runtime* previous_;
};

}  // namespace swizzle
