#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/load.h"
#include "bench/report.h"

namespace swizzle::bench {

/// A system at one setting, which can be measured repeatedly.
struct Arm {
  std::string system;
  double x = 0;
  std::function<void(Worker&)> work;
};

struct Plan {
  Load load;
  std::vector<unsigned> threads{1};
  unsigned repetitions = 5;
  std::string metric = "operations_per_second";
};

/// Measures all arms once, then all again, and so on, so that disturbances of the machine affect
/// all systems alike. Every second repetition runs backward, so that no arm always follows the same
/// one.
void compare(const Plan& plan, const std::vector<Arm>& arms, Report& report);

}  // namespace swizzle::bench
