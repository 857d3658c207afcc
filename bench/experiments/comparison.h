#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/load.h"
#include "bench/report.h"

namespace swizzle::bench {

/// One system at one setting, ready to be measured again and again.
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

/// Measures all arms once, then all again …: what the machine does to one moment it does to all
/// systems alike. Every second repetition goes backwards, so that no arm always follows the same.
void compare(const Plan& plan, const std::vector<Arm>& arms, Report& report);

}  // namespace swizzle::bench
