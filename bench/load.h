#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/runtime/runtime.h"

namespace swizzle::bench {

/// One worker of a measured load. It works in batches: while (worker.running()) { …;
/// worker.did(256); }
class alignas(128) Worker {
 public:
  Worker(unsigned number, const std::atomic<bool>& stop) noexcept : number_(number), stop_(&stop) {}

  [[nodiscard]] unsigned number() const noexcept { return number_; }
  [[nodiscard]] bool running() const noexcept { return !stop_->load(std::memory_order_relaxed); }
  void did(std::uint64_t operations) noexcept {
    operations_.store(operations_.load(std::memory_order_relaxed) + operations,
                      std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t operations() const noexcept {
    return operations_.load(std::memory_order_relaxed);
  }

 private:
  unsigned number_;
  const std::atomic<bool>* stop_;
  std::atomic<std::uint64_t> operations_{0};
};

struct Load {
  unsigned threads = 1;
  double seconds = 1;
  /// Not counted: caches, the pool and the branch predictors settle.
  double warm_up_seconds = 0;
  /// Each tick of the timeline; 0 for none.
  double tick_seconds = 0;
};

struct Measured {
  double seconds = 0;
  std::uint64_t operations = 0;
  double cpu_seconds = 0;
  /// Operations per second in each tick.
  std::vector<double> timeline;

  [[nodiscard]] double per_second() const noexcept {
    return static_cast<double>(operations) / seconds;
  }
};

/// Runs `work` in `load.threads` operating system threads, thread i pinned to CPU i, until the time
/// is over; counts what they did between warm-up and end.
Measured measure(const Load& load, const std::function<void(Worker&)>& work);

/// Runs `work` once in each thread and takes the time from the start of the first to the end of the
/// last; for loads of a given number of operations.
Measured measure_once(unsigned threads, const std::function<void(Worker&)>& work);

/// The same as measure() with `fibers` fibers on `load.threads` reactors of `runtime`. Work yields
/// by itself where it does not park.
Measured measure_fibers(Runtime& runtime, unsigned fibers, const Load& load,
                        const std::function<void(Worker&)>& work);

void pin_to_cpu(unsigned number) noexcept;

}  // namespace swizzle::bench
