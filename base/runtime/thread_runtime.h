#pragma once

#include "base/runtime/runtime.h"

namespace swizzle {

/// Operating system threads. A parked thread sleeps on a futex. Thread-safe and stateless, so any
/// number may exist; threads that were not spawned belong to of_the_process().
class ThreadRuntime final : public Runtime {
 public:
  static ThreadRuntime& of_the_process() noexcept;

  /// Parkers are recycled, never freed: an unpark() that comes after its thread has ended is at
  /// worst a spurious wake of another thread.
  Parker& parker() noexcept override;
  /// An exception that leaves `body` terminates the process.
  std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) override;
  TimePoint now() noexcept override;
  std::int64_t wall_clock_us() noexcept override;
  std::uint64_t random() noexcept override;
  void yield() noexcept override;
  void relax() noexcept override;
  bool owns_its_thread() noexcept override { return true; }
  void run_abandonable(std::function<void()> work) override;
};

}  // namespace swizzle
