#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace swizzle::schedules {

/// Counts of the explorer's actions in one schedule.
struct Trace {
  /// Number of times that a task reached a pause point.
  std::uint64_t pauses = 0;
  /// Number of times that a task lost the processor there.
  std::uint64_t preemptions = 0;
};

/// Runs `body` as the first task of a simulation. While a Contest lives, tasks lose the processor
/// at pause points that the seed chooses: in a third of the schedules at points of one kind, in a
/// third at a few points of any kind, in the others with equal odds at each. The seed also chooses
/// how long they wait.
Trace run_schedule(std::uint64_t seed, const std::function<void()>& body);

/// Preemptions are on while an object of this class exists; code before and after it runs
/// undisturbed.
class Contest {
 public:
  Contest() noexcept;
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;
  ~Contest();
};

/// Returns the value of an environment variable, if it is set. Pre: this process has one thread.
std::optional<std::uint64_t> number_from(const char* variable);

struct Exploration {
  std::uint64_t schedules = 0;
  /// The seed that failed first, 0 when none did, and its failure.
  std::uint64_t failed_seed = 0;
  std::string failure;
};

/// Runs `most` schedules with the seeds from `first` on in child processes until one fails: by an
/// exception, an INVARIANT, a crash, or by not ending. SWIZZLE_SEED=n runs that seed alone,
/// SWIZZLE_SCHEDULES=n so many, SWIZZLE_FIRST_SEED=n begins there. Pre: this process has one
/// thread.
Exploration explore(std::uint64_t most, const std::function<void(std::uint64_t seed)>& schedule,
                    std::uint64_t first = 1);

}  // namespace swizzle::schedules
