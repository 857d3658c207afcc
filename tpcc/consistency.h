#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tpcc/backend.h"

namespace swizzle::tpcc {

/// Checks the consistency conditions 1 to 12 of clause 3.3.2 over any backend, while nothing else
/// runs. Each string names the condition, the place and both sides of the equation. At most a few
/// per condition and warehouse are listed; the rest are counted.
///
/// Condition 11 holds for a fresh load (orders - new orders = 2100 in each district). Here the
/// deliveries since then are added on the right side, so that it holds after a run as well.
Result<std::vector<std::string>> find_violations(Backend& backend);

}  // namespace swizzle::tpcc
