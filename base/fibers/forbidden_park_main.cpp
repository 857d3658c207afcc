// Parks where R-1 forbids it, and must abort: `forbidden_park <runtime> <place>`.

#include <cstdio>
#include <string_view>

#include "base/fibers/fiber_runtime.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/runtime.h"
#include "base/simulation/simulation.h"

using namespace swizzle;

namespace {

// One wake is pending: a check that is made only before a real sleep would be missed.
void park_now() {
  Parker& parker = Runtime::current().parker();
  parker.unpark();
  parker.park();
}

struct ParksWhenDestroyed {
  ~ParksWhenDestroyed() { park_now(); }
};

void park_in(std::string_view place) {
  if (place == "latch") {
    ++latches_held;
    park_now();
  } else if (place == "catch") {
    try {
      throw 1;
    } catch (int) {
      park_now();
    }
  } else if (place == "unwinding") {
    try {
      const ParksWhenDestroyed guard;
      throw 1;
    } catch (int) {
      std::puts("caught");
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string_view runtime{arguments[1]};
  const std::string_view place{arguments[2]};
  if (runtime == "threads") {
    park_in(place);
  } else if (runtime == "fibers") {
    FiberRuntime fibers{{.reactors = 1}};
    fibers.spawn("forbidden", [&] { park_in(place); })->join();
  } else if (runtime == "simulation") {
    Simulation simulation{1};
    simulation.run([&] { park_in(place); });
  }
  std::puts("it did not abort");
  return 0;
}
