#pragma once

#include "bench/experiment.h"

namespace swizzle::bench {

Result<> run_l0(Context& context);
Result<> run_i0(Context& context);
Result<> run_g1(Context& context);
Result<> run_g2(Context& context);
Result<> run_g3(Context& context);
Result<> run_g4(Context& context);
Result<> run_e2(Context& context);
Result<> run_b1(Context& context);
Result<> run_b2(Context& context);
Result<> run_b3(Context& context);
Result<> run_l5(Context& context);
Result<> run_l6(Context& context);
Result<> run_l7(Context& context);
Result<> run_l8(Context& context);
Result<> run_e3(Context& context);
Result<> run_r1(Context& context);
Result<> run_r2(Context& context);
Result<> run_r3(Context& context);
Result<> run_r4(Context& context);

}  // namespace swizzle::bench
