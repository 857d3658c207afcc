// G4: lookups in a window of a tenth of the pool that moves by a quarter of itself every period, on
// a database ten times the pool: how deep and how long are the dips?
//
// Parameters: --pool-bytes, --period (seconds), --periods, --threads, --systems, --repetitions
#include <memory>

#include "bench/experiments/all.h"
#include "bench/report.h"
#include "bench/stores/disk.h"
#include "bench/stores/look_up.h"
#include "bench/stores/pool_choice.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kTwentyAndTwenty;

struct DriftPlan {
  std::uint64_t pool_bytes;
  double period_seconds;
  double periods;
  unsigned threads;
};

template <class Pool>
Result<> drift(const std::string& system, const ReplacementOptions& replacement,
               const DiskTree& tree, const DriftPlan& plan, unsigned repetition, Report& report) {
  ASSIGN_OR_RETURN(const auto store, TreeStore<Pool>::open(tree.disk->pages(), tree.root,
                                                           plan.pool_bytes, replacement));
  const std::uint64_t width = std::max<std::uint64_t>(64, tree.records_in(plan.pool_bytes) / 10);
  const DriftingWindow window{tree.records, width, 0.25};
  Load load;
  load.threads = plan.threads;
  load.seconds = plan.period_seconds * plan.periods;
  load.tick_seconds = plan.period_seconds / 20;
  const auto start = std::chrono::steady_clock::now();
  const Measured measured = measure(load, [&](Worker& worker) {
    Random random{worker.number() + 3};
    std::uint64_t looked = 0;
    std::uint64_t period = 0;
    const auto pick = [&] {
      if (looked++ % 32 == 0) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        period = static_cast<std::uint64_t>(elapsed.count() / plan.period_seconds);
      }
      return window.pick(random, period);
    };
    look_up(worker, kShape, 32, pick, [&](std::uint64_t number, MutableBytes into) {
      return store->get(Key{kShape, number}.bytes(), into);
    });
  });
  for (std::size_t i = 0; i < measured.timeline.size(); ++i) {
    report.add({system, static_cast<double>(i + 1) * load.tick_seconds, plan.threads, repetition,
                "lookups_per_second", measured.timeline[i]});
  }
  return {};
}

}  // namespace

Result<> run_g4(Context& context) {
  CommandLine& options = context.options();
  DriftPlan plan{};
  plan.pool_bytes = options.bytes(
      "pool-bytes", context.by_scale<std::uint64_t>(128U << 20U, 32U << 20U, 2U << 20U));
  plan.period_seconds = options.real("period", context.by_scale(3.0, 0.5, 0.05));
  plan.periods = options.real("periods", context.by_scale(12.0, 6.0, 2.0));
  plan.threads = static_cast<unsigned>(options.number("threads", 2));
  const auto systems = options.list("systems", "swizzling,traditional");
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)));
  RETURN_IF_ERROR(options.finish());

  Report report{"G4", "seconds", context.csv()};
  report.note("pool_bytes", static_cast<double>(plan.pool_bytes));
  report.note("period_seconds", plan.period_seconds);
  ASSIGN_OR_RETURN(const DiskTree tree, make_disk_tree(context.directory() / "data", kShape,
                                                       plan.pool_bytes * 10, KeyOrder::dense));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const std::string& system = systems[(i + repetition) % systems.size()];
      ASSIGN_OR_RETURN(const PoolChoice choice, parse_pool(system));
      RETURN_IF_ERROR(with_pool_of(choice.mode, [&]<class Pool>() {
        return drift<Pool>(system, choice.replacement, tree, plan, repetition, report);
      }));
    }
  }
  return report.write();
}

}  // namespace swizzle::bench
