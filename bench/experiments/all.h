#pragma once

#include "bench/experiment.h"

namespace swizzle::bench {

Result<> run_l0(Context& context);
Result<> run_i0(Context& context);

}  // namespace swizzle::bench
