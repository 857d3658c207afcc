// L5 and L6: Zipf lookups of 8-byte keys with 120-byte values on data five times the pool, by
// fibers: lookups and device reads per second over the skew, against what fio reads at the same
// depth (L5), and over the share of the pool that waits unswizzled (L6). At the first skew L5 runs
// with updates too.
//
// Parameters: --pool-bytes, --fibers, --threads, --skews 0,0.5,…, --cooling 10 (per cent),
// --updates 10 (per cent, at the first skew), --seconds, --repetitions; L6: --policies
// clock_sweep,cooling
#include <cmath>
#include <memory>

#include "base/fibers/fiber_runtime.h"
#include "bench/baselines/fio.h"
#include "bench/experiments/all.h"
#include "bench/report.h"
#include "bench/stores/disk.h"
#include "bench/stores/look_up.h"
#include "bench/stores/pool_choice.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;
using Store = TreeStore<SwizzlingPool>;

struct ZipfPlan {
  std::uint64_t pool_bytes = 0;
  unsigned fibers = 64;
  Load load;
  unsigned repetitions = 1;

  ZipfPlan(Context& context, CommandLine& options)
      : pool_bytes(options.bytes(
            "pool-bytes", context.by_scale<std::uint64_t>(256U << 20U, 32U << 20U, 2U << 20U))),
        fibers(static_cast<unsigned>(options.number("fibers", 64))),
        repetitions(
            static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)))) {
    load.threads = static_cast<unsigned>(options.number("threads", 2));
    load.seconds = options.real("seconds", context.by_scale(4.0, 1.0, 0.05));
    load.warm_up_seconds = options.real("warm-up", context.by_scale(4.0, 1.0, 0.02));
  }
};

/// Runs lookups and updates in `plan.fibers` fibers.
Measured run(Store& store, std::uint64_t records, double skew, std::uint32_t updates_percent,
             const ZipfPlan& plan) {
  FiberRuntime runtime{{.reactors = plan.load.threads}};
  return measure_fibers(runtime, plan.fibers, plan.load, [&](Worker& worker) {
    Picker pick{records, skew, worker.number() + 11};
    std::array<std::byte, kMaxRecordBytes> buffer;
    while (worker.running()) {
      for (int i = 0; i < 16; ++i) {
        const std::uint64_t number = pick();
        const Key key{kShape, number};
        if (updates_percent != 0 && pick.random().below(100) < updates_percent) {
          const bool updated = store.update(key.bytes(), Value{kShape, number}.bytes());
          INVARIANT(updated);
        } else {
          const std::size_t size = store.get(key.bytes(), buffer);
          INVARIANT(size == kShape.value_bytes && belongs_to({buffer.data(), size}, number));
        }
        worker.did(1);
        if (!worker.running()) return;
      }
      // Without device reads no worker parks, so yield.
      Runtime::current().yield();
    }
  });
}

struct Opened {
  std::unique_ptr<Store> store;
  std::unique_ptr<Cleaning> cleaning;
};

Result<Opened> open(const DiskTree& tree, const ZipfPlan& plan,
                    const ReplacementOptions& replacement) {
  Opened opened;
  ASSIGN_OR_RETURN(opened.store,
                   Store::open(tree.disk->pages(), tree.root, plan.pool_bytes, replacement));
  opened.cleaning = std::make_unique<Cleaning>(*tree.disk, opened.store->pool());
  return opened;
}

struct DeviceLoad {
  double reads_per_second;
  double writes_per_second;
};

Result<DeviceLoad> measure_skew(const DiskTree& tree, const ZipfPlan& plan,
                                std::uint32_t cooling_percent, double skew,
                                std::uint32_t updates_percent, unsigned repetition,
                                Report& report) {
  ASSIGN_OR_RETURN(const Opened opened,
                   open(tree, plan, ReplacementOptions{.cooling_percent = cooling_percent}));
  const std::string system = updates_percent == 0 ? "swizzling" : "swizzling with updates";
  const std::uint64_t written_before = tree.disk->volume().pages_written();
  // Reads and writes are counted over the whole run, lookups after the warm-up; divide each by its
  // own time.
  const auto start = std::chrono::steady_clock::now();
  const Measured measured = run(*opened.store, tree.records, skew, updates_percent, plan);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const auto add = [&](const char* metric, double value) {
    report.add({system, skew, plan.load.threads, repetition, metric, value});
  };
  add("lookups_per_second", measured.per_second());
  const double reads =
      static_cast<double>(opened.store->pool().counters().reads.load()) / elapsed.count();
  const double pages_written =
      static_cast<double>(tree.disk->volume().pages_written() - written_before) / elapsed.count();
  add("reads_per_second", reads);
  add("pages_written_per_second", pages_written);
  add("cpu_ns_per_operation",
      measured.cpu_seconds * 1e9 / static_cast<double>(measured.operations));
  // Each page is written twice: to the double-write area and in place.
  const DeviceLoad device{reads, 2 * pages_written};
  add("transfers_per_second", device.reads_per_second + device.writes_per_second);
  return device;
}

/// Measures lookups with updates, and then fio with the same share of writes.
Result<> measure_with_updates(const Context& context, const DiskTree& tree, const ZipfPlan& plan,
                              std::uint32_t cooling_percent, double skew,
                              std::uint32_t updates_percent, unsigned repetition, Report& report) {
  ASSIGN_OR_RETURN(const DeviceLoad device, measure_skew(tree, plan, cooling_percent, skew,
                                                         updates_percent, repetition, report));
  if (context.scale() == Scale::smoke) return {};
  const auto reads_percent = static_cast<unsigned>(std::lround(
      100 * device.reads_per_second / (device.reads_per_second + device.writes_per_second)));
  const auto reference = fio_mixed_transfers_per_second(
      context.directory(), plan.pool_bytes * 5, plan.fibers, reads_percent, plan.load.seconds);
  if (reference)
    report.add({"fio with writes", skew, plan.load.threads, repetition, "transfers_per_second",
                *reference});
  return {};
}

}  // namespace

Result<> run_l5(Context& context) {
  CommandLine& options = context.options();
  const ZipfPlan plan{context, options};
  const auto skews = options.reals(
      "skews", context.by_scale("0,0.25,0.5,0.75,1,1.25,1.5,1.75,2", "0,0.5,1,1.5,2", "0,2"));
  const auto cooling = static_cast<std::uint32_t>(options.number("cooling", 10));
  const auto updates = static_cast<std::uint32_t>(options.number("updates", 10));
  RETURN_IF_ERROR(options.finish());

  Report report{"L5", "skew", context.csv()};
  report.note("pool_bytes", static_cast<double>(plan.pool_bytes));
  report.note("fibers", plan.fibers);
  report.note("updates_percent", updates);
  ASSIGN_OR_RETURN(const DiskTree tree, make_disk_tree(context.directory() / "data", kShape,
                                                       plan.pool_bytes * 5, KeyOrder::dense));
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    if (context.scale() != Scale::smoke) {
      const auto reference =
          fio_reads_per_second(tree.disk->volume().path(), plan.fibers, plan.load.seconds);
      for (const double skew : skews) {
        if (reference) {
          report.add({"fio", skew, plan.load.threads, repetition, "reads_per_second", *reference});
        }
      }
    }
    for (const double skew : skews)
      RETURN_IF_ERROR(measure_skew(tree, plan, cooling, skew, 0, repetition, report));
    if (updates != 0)
      RETURN_IF_ERROR(measure_with_updates(context, tree, plan, cooling, skews.front(), updates,
                                           repetition, report));
  }
  report.print_summary();
  return report.write();
}

Result<> run_l6(Context& context) {
  CommandLine& options = context.options();
  const ZipfPlan plan{context, options};
  const auto skews = options.reals("skews", context.by_scale("1,1.5,2", "1,1.5", "1"));
  const auto shares =
      options.reals("cooling", context.by_scale("1,2,5,10,15,20,30,40,50", "1,10,50", "10"));
  const auto policies = options.list("policies", "clock_sweep,cooling");
  RETURN_IF_ERROR(options.finish());

  Report report{"L6", "unswizzled_percent", context.csv()};
  report.note("pool_bytes", static_cast<double>(plan.pool_bytes));
  ASSIGN_OR_RETURN(const DiskTree tree, make_disk_tree(context.directory() / "data", kShape,
                                                       plan.pool_bytes * 5, KeyOrder::dense));
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    for (const double share : shares) {
      for (const std::string& policy : policies) {
        ASSIGN_OR_RETURN(ReplacementOptions replacement, parse_replacement(policy));
        replacement.cooling_percent = static_cast<std::uint32_t>(share);
        for (const double skew : skews) {
          ASSIGN_OR_RETURN(const Opened opened, open(tree, plan, replacement));
          const Measured measured = run(*opened.store, tree.records, skew, 0, plan);
          report.add({policy + " at skew " + std::to_string(skew).substr(0, 4), share,
                      plan.load.threads, repetition, "lookups_per_second", measured.per_second()});
        }
      }
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
