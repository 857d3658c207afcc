#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>

namespace swizzle {

/// For tests: calls `run` with the seeds 1 … `count`. Reports the seed when an exception leaves it,
/// and passes the exception on. The environment overrides: SWIZZLE_SEED=n runs that seed alone,
/// SWIZZLE_SEEDS=n runs so many, SWIZZLE_FIRST_SEED=n begins there.
void for_seeds(std::uint64_t count, const std::function<void(std::uint64_t seed)>& run);

/// for_seeds_apart() with the bytes of its totals.
void run_seeds_apart(std::uint64_t count, std::uint64_t at_once, std::span<std::byte> totals,
                     const std::function<void(std::uint64_t seed)>& run);

/// The same with so many seeds at a time in a child process, whose memory goes with it: a
/// simulation that was stopped in mid-run abandons its tasks with all that they own. Their counts
/// in `totals` come back; other changes do not. A seed that fails throws, with the child's output.
/// Pre: this process has one thread.
template <class Totals>
  requires std::is_trivially_copyable_v<Totals>
Totals for_seeds_apart(std::uint64_t count, std::uint64_t at_once,
                       const std::function<void(std::uint64_t seed, Totals& totals)>& run) {
  Totals totals{};
  run_seeds_apart(count, at_once, std::as_writable_bytes(std::span{&totals, 1}),
                  [&](std::uint64_t seed) { run(seed, totals); });
  return totals;
}
/// For a random test that runs once: SWIZZLE_SEED, or 1, so that a red run can be repeated.
std::uint64_t test_seed();

struct ChildReport {
  /// It returned: no exception, no abort, no signal, in time.
  bool succeeded = false;
  /// The output of the run, and how it ended if it did not succeed.
  std::string output;
};

/// For tests: runs `body` in a child process, a copy of this one, and kills it after `limit`.
/// Aborts, hangs and leaks stay there: a simulation that was stopped in mid-run abandons its tasks
/// with all they own, which thousands of crash tests in one process would pile up.
/// Pre: this process has one thread.
ChildReport run_in_child(const std::function<void()>& body,
                         std::chrono::milliseconds limit = std::chrono::seconds{60});

}  // namespace swizzle
