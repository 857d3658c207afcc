#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace swizzle {

/// Time as the runtime sees it: the monotonic clock, or virtual time in the simulation.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class IoBackend;

/// Asked between pieces of long work (base/runtime/long_work.h), so that it can be cancelled.
class Overseer {
 public:
  Overseer() = default;
  Overseer(const Overseer&) = delete;
  Overseer& operator=(const Overseer&) = delete;
  virtual ~Overseer() = default;
  /// Throws the error that the work is to end with, if it is to end.
  virtual void look() = 0;
};

/// Turns that were so long that a reactor's other fibers had to wait, and their total time.
struct Stalls {
  std::uint64_t count = 0;
  Duration total{};
  /// Number of these and of shorter ones that are still longer than a step should be.
  std::uint64_t long_turns = 0;
  Duration longest_turn{};
};

/// Told of a fiber that kept its reactor for too long.
class StallListener {
 public:
  StallListener() = default;
  StallListener(const StallListener&) = delete;
  StallListener& operator=(const StallListener&) = delete;
  virtual ~StallListener() = default;
  /// Runs on the reactor's own stack, after the fiber's turn: it must not park.
  virtual void stalled(Duration turn) noexcept = 0;
};

/// Position of a woken fiber among the ready ones of its thread.
enum class WakeupPriority : std::uint8_t {
  normal,
  high,  ///< for fibers that others wait for, such as holders of locks
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
  /// recycled, not freed), so after its owner has ended it is at worst a spurious wake of another.
  virtual void unpark() noexcept = 0;
  /// Sets the WakeupPriority of the owner's next wakes. Does nothing for threads, which the system
  /// schedules.
  virtual void set_wakeup_priority(WakeupPriority /*priority*/) noexcept {}

  // Overseer of the owner's present work, or null; set by scopes, for the owner's thread alone.
  Overseer* overseer = nullptr;
  StallListener* stall_listener = nullptr;
};

/// While it lives, long work of the calling thread or fiber asks `overseer`.
class OversightScope {
 public:
  explicit OversightScope(Overseer& overseer) noexcept;
  OversightScope(const OversightScope&) = delete;
  OversightScope& operator=(const OversightScope&) = delete;
  ~OversightScope() { parker_.overseer = previous_; }

 private:
  Parker& parker_;
  Overseer* previous_;
};

/// While it lives, `listener` is told of the calling fiber's stalls.
class StallScope {
 public:
  explicit StallScope(StallListener& listener) noexcept;
  StallScope(const StallScope&) = delete;
  StallScope& operator=(const StallScope&) = delete;
  ~StallScope() { parker_.stall_listener = nullptr; }

 private:
  Parker& parker_;
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

/// Provider of threads, waits and clocks: threads, fibers or the simulation. One is current for
/// every thread.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  /// The runtime of the calling thread. A thread that was not spawned belongs to the thread
  /// runtime.
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
  /// Lets other tasks of this runtime run. Allowed under a latch only in the simulation.
  virtual void yield() noexcept = 0;
  /// For spinning on a latch: a pause instruction, or a yield where the holder may be a fiber of
  /// the same thread (the simulation).
  virtual void relax() noexcept = 0;
  /// Returns the backend that carries file transfers for the calling thread or fiber; null: the
  /// file system's own.
  virtual IoBackend* io_backend() noexcept { return nullptr; }
  /// Number of other fibers of the calling fiber's thread that are ready. Of a thread: none.
  virtual std::size_t others_ready() noexcept { return 0; }
  /// True if the caller has an operating system thread to itself, so that a system call that blocks
  /// delays no other task.
  virtual bool owns_its_thread() noexcept { return false; }
  /// Runs `work`, which may take long and cannot yield, without delaying other fibers: on a helper
  /// thread, while the calling fiber parks. It has the caller's overseer and throws into the
  /// caller. If the caller may not park, or is a thread of the system, it runs at once.
  virtual void run_aside(const std::function<void()>& work) { work(); }
  /// The same for work that cannot even be interrupted: if the overseer ends the caller, it goes on
  /// alone. So `work` must own everything that it touches. Few such works run at a time; others
  /// queue.
  virtual void run_abandonable(std::function<void()> work) { std::move(work)(); }
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
