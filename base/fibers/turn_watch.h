#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/runtime/runtime.h"

namespace swizzle {

class FiberRuntime;

/// Reports a turn of a reactor that does not end, while it lasts, with the fiber's work and its
/// stack. Stall counters are updated at the end of a turn, which a turn in an endless loop never
/// reaches.
class TurnWatch {
 public:
  /// The first report of a turn comes after `patience`, each later one after four times as long.
  /// Reports are written to `descriptor`, as those of crashes are.
  TurnWatch(const FiberRuntime& runtime, int descriptor,
            Duration patience = std::chrono::seconds{1});
  TurnWatch(const TurnWatch&) = delete;
  TurnWatch& operator=(const TurnWatch&) = delete;
  ~TurnWatch();

 private:
  /// Current turn of a reactor, and the time of its next report.
  struct Seen {
    TimePoint begin{};
    Duration next_report{};
  };

  void run() noexcept;
  void look(std::size_t reactor) noexcept;

  const FiberRuntime& runtime_;
  Duration patience_;
  std::vector<Seen> seen_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace swizzle
