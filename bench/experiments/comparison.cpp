#include "bench/experiments/comparison.h"

namespace swizzle::bench {

void compare(const Plan& plan, const std::vector<Arm>& arms, Report& report) {
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const Arm& arm = arms[repetition % 2 == 0 ? i : arms.size() - 1 - i];
      for (const unsigned threads : plan.threads) {
        Load load = plan.load;
        load.threads = threads;
        const Measured measured = measure(load, arm.work);
        report.add({arm.system, arm.x, threads, repetition, plan.metric, measured.per_second()});
        // Processor time suffers less from other processes than the rate does.
        report.add({arm.system, arm.x, threads, repetition, "cpu_ns_per_operation",
                    measured.cpu_seconds * 1e9 / static_cast<double>(measured.operations)});
      }
    }
  }
}

}  // namespace swizzle::bench
