// E3: replacement policies in the pool itself: hit rate, time per eviction and lookups per second
// of Zipf lookups over pool sizes, and of a loop slightly longer than the pool (drawn at share 0);
// beside them, what the same policies and OPT would keep on recorded traces.
//
// Parameters: --data-bytes, --shares (of the data that fits), --systems
// swizzling,traditional/car,…,
// --skew, --threads, --seconds, --repetitions; of the traces: --pages, --accesses, --policies
#include "bench/experiments/all.h"
#include "bench/experiments/traces.h"
#include "bench/report.h"
#include "bench/stores/disk.h"
#include "bench/stores/look_up.h"
#include "bench/stores/pool_choice.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;

struct PolicyPlan {
  std::uint64_t data_bytes;
  double skew;
  Load load;
  unsigned repetitions;
};

/// Upper bound of a leaf's records: records at this distance are on different leaves.
constexpr std::uint64_t kMostRecordsOnPage =
    kPageBytes / (kShape.key_bytes + kShape.value_bytes + 10);

/// Generator of record numbers: Zipf's distribution, or page after page in a loop.
class NextRecord {
 public:
  NextRecord(const DiskTree& tree, double skew, std::uint64_t looped, unsigned worker)
      : pick_(tree.records, skew, worker + 11), looped_(looped) {}
  std::uint64_t operator()() noexcept {
    if (looped_ == 0) return pick_();
    at_ = (at_ + kMostRecordsOnPage) % looped_;
    return at_;
  }

 private:
  Picker pick_;
  std::uint64_t looped_;  ///< records; 0: no loop
  std::uint64_t at_ = 0;
};

/// `share` 0: a loop over 105 % of a pool that has a tenth of the data.
template <class Pool>
Result<> measure_policy(const std::string& system, const ReplacementOptions& replacement,
                        const DiskTree& tree, double share, const PolicyPlan& plan,
                        unsigned repetition, Report& report) {
  const double of_data = share > 0 ? share : 0.1;
  const auto frames = static_cast<std::uint64_t>(of_data * static_cast<double>(tree.pages));
  const std::uint64_t pool_bytes =
      std::max<std::uint64_t>(frames, BufferPool::kMinFrames) * Frame::kStride;
  ASSIGN_OR_RETURN(const auto store,
                   TreeStore<Pool>::open(tree.disk->pages(), tree.root, pool_bytes, replacement));
  const std::uint64_t looped =
      share > 0
          ? 0
          : static_cast<std::uint64_t>(1.05 * static_cast<double>(frames)) * kMostRecordsOnPage;
  const PoolCounters& counters = store->pool().counters();
  // Warm up in a separate run, so that its misses are not counted. Use one worker for a loop: with
  // two, the second would find the pages that the first has read, and the pool would hit more often
  // than OPT on a single loop.
  const unsigned threads = looped == 0 ? plan.load.threads : 1;
  const auto run = [&](double seconds) {
    Load load = plan.load;
    load.threads = threads;
    load.seconds = seconds;
    load.warm_up_seconds = 0;
    return measure(load, [&](Worker& worker) {
      NextRecord next{tree, plan.skew, looped, worker.number()};
      look_up(worker, kShape, 8, next, [&](std::uint64_t number, MutableBytes into) {
        return store->get(Key{kShape, number}.bytes(), into);
      });
    });
  };
  run(plan.load.warm_up_seconds);
  const std::uint64_t reads_before = counters.reads.load();
  const std::uint64_t evictions_before = counters.evictions.load();
  const std::uint64_t evicting_before = counters.evicting_ns.load();
  const Measured measured = run(plan.load.seconds);
  const auto reads = static_cast<double>(counters.reads.load() - reads_before);
  const auto evictions =
      static_cast<double>(std::max<std::uint64_t>(1, counters.evictions.load() - evictions_before));
  const auto add = [&](const char* metric, double value) {
    report.add({system, share, threads, repetition, metric, value});
  };
  add("hit_rate_percent", 100 * (1 - reads / static_cast<double>(measured.operations)));
  add("eviction_ns",
      static_cast<double>(counters.evicting_ns.load() - evicting_before) / evictions);
  add("lookups_per_second", measured.per_second());
  return {};
}

}  // namespace

Result<> run_e3(Context& context) {
  CommandLine& options = context.options();
  PolicyPlan plan{};
  plan.data_bytes = options.bytes(
      "data-bytes", context.by_scale<std::uint64_t>(256U << 20U, 64U << 20U, 4U << 20U));
  plan.skew = options.real("skew", 1.0);
  plan.load.threads = static_cast<unsigned>(options.number("threads", 2));
  plan.load.seconds = options.real("seconds", context.by_scale(1.5, 0.4, 0.02));
  plan.load.warm_up_seconds = options.real("warm-up", context.by_scale(1.5, 0.4, 0.02));
  plan.repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)));
  const auto shares = options.reals(
      "shares", context.by_scale("0.02,0.05,0.1,0.2,0.5,0.9", "0.05,0.1,0.3,0.7", "0.1"));
  const auto systems =
      options.list("systems",
                   "swizzling,swizzling/cooling,swizzling/random,swizzling/car,traditional/random,"
                   "traditional/gclock:1,traditional/gclock:8,traditional/car,traditional/lru");
  ASSIGN_OR_RETURN(TracePlan traces, TracePlan::from(context));
  RETURN_IF_ERROR(options.finish());

  Report report{"E3", "pool_share", context.csv()};
  report.note("data_bytes", static_cast<double>(plan.data_bytes));
  report.note("skew", plan.skew);
  ASSIGN_OR_RETURN(const DiskTree tree, make_disk_tree(context.directory() / "data", kShape,
                                                       plan.data_bytes, KeyOrder::dense));
  if (traces.pages == 0) traces.fit(tree.pages, tree.records);
  std::vector<double> xs = shares;
  xs.push_back(0);
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    for (const double share : xs) {
      for (const std::string& system : systems) {
        ASSIGN_OR_RETURN(const PoolChoice choice, parse_pool(system));
        RETURN_IF_ERROR(with_pool_of(choice.mode, [&]<class Pool>() {
          return measure_policy<Pool>(system, choice.replacement, tree, share, plan, repetition,
                                      report);
        }));
      }
    }
  }
  RETURN_IF_ERROR(replay_over_shares(traces, shares, report));
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
