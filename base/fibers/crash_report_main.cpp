// Crashes on a fiber, for the tests of the report: `crash_report null|overflow|abort`.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/fibers/crash_report.h"
#include "base/fibers/fiber_runtime.h"

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

// NOLINTNEXTLINE(misc-no-recursion): that is what it is for
int recurse(volatile int& depth) {
  volatile char room[256] = {};
  depth = depth + 1;
  if (depth < 0) return 0;  // never, which the compiler cannot know
  return room[0] + recurse(depth) + depth;
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
  FiberRuntime runtime{{.reactors = 1}};
  // Joined here; it does not come back.
  runtime.spawn("crash", [&] {
    const Statement statement;
    const CrashSubjectScope scope{statement};
    crash(how);
  });
  return 0;
}
