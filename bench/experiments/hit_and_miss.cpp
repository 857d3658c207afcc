// E2: what a lookup costs when every page is in memory, whether two threads do twice as many of
// these, and what it costs more when its leaf is not, with the device's own read beside it.
//
// Parameters: --pool-bytes, --seconds, --repetitions, --systems swizzling,traditional/car,…
#include <memory>

#include "bench/experiments/all.h"
#include "bench/report.h"
#include "bench/stores/disk.h"
#include "bench/stores/look_up.h"
#include "bench/stores/pool_choice.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;

struct Costs {
  double wall_ns = 0;
  double cpu_ns = 0;
};

Costs per(std::uint64_t events, const Measured& measured) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, events));
  return {measured.seconds * 1e9 / count, measured.cpu_seconds * 1e9 / count};
}

Load with_threads(Load load, unsigned threads) {
  load.threads = threads;
  return load;
}

template <class Pool>
Result<> costs_of(const std::string& system, const ReplacementOptions& replacement,
                  const DiskTree& tree, std::uint64_t pool_bytes, const Load& load,
                  unsigned repetition, Report& report) {
  ASSIGN_OR_RETURN(const auto store,
                   TreeStore<Pool>::open(tree.disk->pages(), tree.root, pool_bytes, replacement));
  const auto run = [&](const Load& of, std::uint64_t records, std::uint64_t batch) {
    return measure(of, [&, records, batch](Worker& worker) {
      Random random{repetition + 5 + 100 * worker.number()};
      look_up(
          worker, kShape, batch, [&] { return random.below(records); },
          [&](std::uint64_t number, MutableBytes into) {
            return store->get(Key{kShape, number}.bytes(), into);
          });
    });
  };
  // A hundred pages only: this measures the path to a page, not memory.
  const std::uint64_t few = std::min<std::uint64_t>(tree.records, 5'000);
  const Measured hits = run(load, few, kBatch);
  report.add({system, 0, 1, repetition, "hit_ns", per(hits.operations, hits).wall_ns});
  report.add({system, 0, 1, repetition, "hit_cpu_ns", per(hits.operations, hits).cpu_ns});
  report.add({system, 0, 1, repetition, "hits_per_second", hits.per_second()});
  // If a hit wrote to a cache line that the other thread reads, two threads would slow each other
  // down.
  report.add({system, 0, 2, repetition, "hits_per_second",
              run(with_threads(load, 2), few, kBatch).per_second()});
  // The pool's counters include the warm-up, so count in a run without one.
  Load counted = load;
  counted.warm_up_seconds = 0;
  run(counted, tree.records, 1);
  const PoolCounters& counters = store->pool().counters();
  const std::uint64_t before = counters.reads.load();
  const std::uint64_t evictions_before = counters.evictions.load();
  const std::uint64_t evicting_before = counters.evicting_ns.load();
  const Measured misses = run(counted, tree.records, 1);
  const std::uint64_t reads = counters.reads.load() - before;
  const std::uint64_t evictions = counters.evictions.load() - evictions_before;
  report.add({system, 0, 1, repetition, "eviction_ns",
              static_cast<double>(counters.evicting_ns.load() - evicting_before) /
                  static_cast<double>(std::max<std::uint64_t>(1, evictions))});
  report.add({system, 0, 1, repetition, "miss_ns", per(reads, misses).wall_ns});
  report.add({system, 0, 1, repetition, "miss_cpu_ns", per(reads, misses).cpu_ns});
  return {};
}

void device_alone(const DiskTree& tree, const Load& load, unsigned repetition, Report& report) {
  const Measured measured = measure(load, [&](Worker& worker) {
    Random random{repetition + 6};
    AlignedBuffer buffer{kPageBytes};
    while (worker.running()) {
      // Page numbers are dense in a fresh volume; skip numbers that were reserved and never
      // written.
      const PageId page{1 + random.below(tree.pages)};
      if (tree.disk->volume().read_page(page, buffer.data())) worker.did(1);
    }
  });
  const Costs costs = per(measured.operations, measured);
  report.add({"device alone", 0, 1, repetition, "miss_ns", costs.wall_ns});
  report.add({"device alone", 0, 1, repetition, "miss_cpu_ns", costs.cpu_ns});
}

/// Measures the speed-up of two threads that share nothing: each multiplies in its registers.
void arithmetic_alone(const Load& load, unsigned repetition, Report& report) {
  for (const unsigned threads : {1U, 2U}) {
    const Measured measured = measure(with_threads(load, threads), [](Worker& worker) {
      Random random{worker.number()};
      [[maybe_unused]] volatile std::uint64_t kept = 0;
      for (; worker.running(); worker.did(kBatch))
        for (std::uint64_t i = 0; i < kBatch; ++i) kept = random.below(1'000);
    });
    report.add(
        {"arithmetic alone", 0, threads, repetition, "hits_per_second", measured.per_second()});
  }
}

}  // namespace

Result<> run_e2(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t pool_bytes = options.bytes(
      "pool-bytes", context.by_scale<std::uint64_t>(64U << 20U, 16U << 20U, 2U << 20U));
  Load load;
  load.seconds = options.real("seconds", context.by_scale(2.0, 0.5, 0.02));
  load.warm_up_seconds = load.seconds / 2;
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(5U, 2U, 1U)));
  const auto systems = options.list(
      "systems",
      "swizzling,traditional,swizzling/cooling,swizzling/random,swizzling/car,swizzling/lru,"
      "traditional/random,traditional/gclock,traditional/car,traditional/lru");
  RETURN_IF_ERROR(options.finish());

  Report report{"E2", "none", context.csv()};
  report.note("pool_bytes", static_cast<double>(pool_bytes));
  ASSIGN_OR_RETURN(const DiskTree tree, make_disk_tree(context.directory() / "data", kShape,
                                                       pool_bytes * 20, KeyOrder::dense));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const std::string& system : systems) {
      ASSIGN_OR_RETURN(const PoolChoice choice, parse_pool(system));
      RETURN_IF_ERROR(with_pool_of(choice.mode, [&]<class Pool>() {
        return costs_of<Pool>(system, choice.replacement, tree, pool_bytes, load, repetition,
                              report);
      }));
    }
    arithmetic_alone(load, repetition, report);
    device_alone(tree, load, repetition, report);
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
