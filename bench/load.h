#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/runtime/runtime.h"

namespace swizzle::bench {

/// A worker of a measured load. It works in batches: while (worker.running()) { …; worker.did(256);
/// }
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
  /// Time before the measurement, in which caches, the pool and the branch predictors warm up.
  double warm_up_seconds = 0;
  /// Interval of the timeline; 0: no timeline.
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

/// Runs `work` in `load.threads` threads, thread i pinned to CPU i, until the time is over. Counts
/// their operations between warm-up and end.
Measured measure(const Load& load, const std::function<void(Worker&)>& work);

/// Runs `work` once in each thread and measures from the first start to the last end; for loads
/// with a fixed number of operations.
Measured measure_once(unsigned threads, const std::function<void(Worker&)>& work);

/// As measure(), with `fibers` fibers on `load.threads` reactors of `runtime`. Work that does not
/// park must yield.
Measured measure_fibers(Runtime& runtime, unsigned fibers, const Load& load,
                        const std::function<void(Worker&)>& work);

void pin_to_cpu(unsigned number) noexcept;

}  // namespace swizzle::bench
