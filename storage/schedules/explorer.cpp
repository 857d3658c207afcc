#include "storage/schedules/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulation.h"
#include "storage/latch/page_pause.h"

namespace swizzle::schedules {
namespace {

/// Decides when the running schedule takes the processor away.
class Preemptions {
 public:
  explicit Preemptions(std::uint64_t seed) : random_(seed) {
    // A race may need that one task waits while another does very much.
    longest_ = std::uint64_t{1} << random_.below(9);
    if (random_.one_in(3)) {
      // Or that it waits at a rarely reached point, most of all between reading a page and using
      // the result.
      kind_ = random_.one_in(2) ? PagePause::between_looks
                                : static_cast<PagePause>(random_.below(kPagePauses));
      odds_ = random_.between(1, 12);
      return;
    }
    if (random_.one_in(2)) {
      odds_ = random_.between(2, 200);
      return;
    }
    // A race needs two or three switches at the right points. The end of the schedule is not known,
    // so its length is guessed: short ones are as likely as long ones.
    const std::uint64_t length = std::uint64_t{1} << random_.between(5, 14);
    const std::uint64_t count = random_.between(1, 4);
    while (chosen_.size() < count) chosen_.insert(random_.between(1, length));
  }

  void pause(PagePause at) {
    ++trace_.pauses;
    if (kind_ && *kind_ != at) return;
    const bool now = odds_ != 0 ? random_.one_in(odds_) : chosen_.contains(trace_.pauses);
    if (!now) return;
    ++trace_.preemptions;
    for (std::uint64_t left = random_.between(1, longest_); left > 0; --left)
      Runtime::current().yield();
  }
  [[nodiscard]] const Trace& trace() const noexcept { return trace_; }

 private:
  Random random_;
  std::uint64_t odds_ = 0;
  /// The only kind of pause point with switches, if set.
  std::optional<PagePause> kind_;
  /// Longest wait of a switched task, in turns of others.
  std::uint64_t longest_ = 1;
  std::set<std::uint64_t> chosen_;
  Trace trace_;
};

Preemptions* running = nullptr;

void pause_there(PagePause at) {
  running->pause(at);
}

constexpr const char* kAtSeed = "at seed ";

/// Returns the last seed that a child began, from its output.
std::uint64_t last_seed(const std::string& output) {
  const std::size_t at = output.rfind(kAtSeed);
  if (at == std::string::npos) return 0;
  return std::strtoull(output.c_str() + at + std::string_view(kAtSeed).size(), nullptr, 10);
}

}  // namespace

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 0);
}

Contest::Contest() noexcept {
  page_pause_hook.store(pause_there, std::memory_order_release);
}

Contest::~Contest() {
  page_pause_hook.store(nullptr, std::memory_order_release);
}

Trace run_schedule(std::uint64_t seed, const std::function<void()>& body) {
  Preemptions preemptions(seed);
  running = &preemptions;
  // The order in which tasks run is drawn from a seed of its own. Tasks do not park for long here,
  // and a hanging process is ended from outside, so there is no watchdog: it would be a second
  // thread.
  Simulation simulation{{.seed = seed,
                         .stack_bytes = 512 << 10,
                         .spurious_odds = 0,
                         .longest_turn = std::chrono::milliseconds{0}}};
  simulation.run(body);
  running = nullptr;
  return preemptions.trace();
}

Exploration explore(std::uint64_t most, const std::function<void(std::uint64_t seed)>& schedule,
                    std::uint64_t begin) {
  // The remains of a failed schedule stay in its process. A process runs many schedules, because
  // the fork is the cost.
  constexpr std::uint64_t kAtOnce = 250;
  constexpr std::chrono::seconds kPatience{120};
  const auto only = number_from("SWIZZLE_SEED");
  const std::uint64_t first = only ? *only : number_from("SWIZZLE_FIRST_SEED").value_or(begin);
  const std::uint64_t count = only ? 1 : number_from("SWIZZLE_SCHEDULES").value_or(most);
  Exploration done;
  for (std::uint64_t from = first; from < first + count; from += kAtOnce) {
    const std::uint64_t end = std::min(from + kAtOnce, first + count);
    const ChildReport report = run_in_child(
        [&] {
          for (std::uint64_t seed = from; seed < end; ++seed) {
            // Unbuffered: an abort flushes nothing.
            std::fprintf(stderr, "%s%llu\n", kAtSeed, static_cast<unsigned long long>(seed));
            schedule(seed);
          }
        },
        kPatience);
    if (!report.succeeded) {
      done.failed_seed = last_seed(report.output);
      done.schedules += done.failed_seed - from + 1;
      done.failure = report.output.substr(report.output.rfind(kAtSeed));
      return done;
    }
    done.schedules += end - from;
  }
  return done;
}

}  // namespace swizzle::schedules
