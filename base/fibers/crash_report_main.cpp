// Crashes on a fiber, or keeps its reactor, for the tests of the reports: `crash_report
// null|overflow|abort|endless`.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/fibers/crash_report.h"
#include "base/fibers/fiber_runtime.h"
#include "base/fibers/turn_watch.h"

namespace {

using namespace swizzle;

class Statement final : public CrashSubject {
 public:
  std::size_t describe(std::span<char> into) const noexcept override {
    constexpr std::string_view kText = "STATEMENT:  session 7: SELECT crash()";
    const std::size_t count = std::min(kText.size(), into.size());
    std::copy_n(kText.data(), count, into.data());
    return count;
  }
};

// NOLINTNEXTLINE(misc-no-recursion): it overflows the stack on purpose
int recurse(volatile int& depth) {
  volatile char room[256] = {};
  depth = depth + 1;
  if (depth < 0) return 0;  // never, which the compiler cannot know
  return room[0] + recurse(depth) + depth;
}

/// Keeps the reactor until its turn has been reported twice, and passes the reports on.
[[gnu::noinline]] void keep_the_reactor(int reports) {
  constexpr std::string_view kBegin = "WARNING:";
  std::string read;
  std::array<char, 4096> room{};
  for (std::size_t found = 0; found < 2;) {
    const auto count = ::read(reports, room.data(), room.size());
    if (count > 0) read.append(room.data(), static_cast<std::size_t>(count));
    found = 0;
    for (std::size_t at = read.find(kBegin); at != std::string::npos;
         at = read.find(kBegin, at + 1))
      ++found;
  }
  std::printf("%s", read.c_str());
}

[[gnu::noinline]] void crash(std::string_view how) {
  if (how == "abort") std::abort();
  if (how == "overflow") {
    volatile int depth = 0;
    std::exit(recurse(depth));
  }
  volatile int* const nowhere = nullptr;
  *nowhere = 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string_view how = arguments[1];
  report_crashes_to(1);
  std::array<int, 2> reports{};
  if (::pipe2(reports.data(), O_NONBLOCK) != 0) return 2;
  FiberRuntime runtime{{.reactors = 1}};
  const TurnWatch watch{runtime, reports[1], std::chrono::milliseconds{50}};
  // Only an endless turn returns.
  runtime
      .spawn("crash",
             [&] {
               const Statement statement;
               const CrashSubjectScope scope{statement};
               how == "endless" ? keep_the_reactor(reports[0]) : crash(how);
             })
      ->join();
  std::printf("the reactor goes on\n");
  return 0;
}
