// I0: random inserts in memory, ours against absl::btree_map behind one mutex.
//
// Parameters: --records, --threads 1,2, --repetitions
#include <memory>

#include "base/invariant.h"
#include "bench/baselines/absl_store.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;

/// Thread t of n inserts positions t, t + n, t + 2n … of the random order.
template <class Insert>
Measured insert_all(unsigned threads, std::uint64_t records, std::uint64_t seed, Insert insert) {
  const Permutation order{records, seed};
  return measure_once(threads, [&](Worker& worker) {
    for (std::uint64_t i = worker.number(); i < records; i += threads) {
      const std::uint64_t number = order(i);
      const bool inserted = insert(number, Value{kShape, number}.bytes());
      INVARIANT(inserted);
      worker.did(1);
    }
  });
}

}  // namespace

Result<> run_i0(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t records =
      options.number("records", context.by_scale<std::uint64_t>(10'000'000, 1'000'000, 10'000));
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 3U, 1U)));
  const std::vector<double> thread_counts = options.reals("threads", "1,2");
  RETURN_IF_ERROR(options.finish());

  Report report{"I0", "records", context.csv()};
  report.note("records",
              "8-byte keys, 120-byte values, inserted in random order into an empty tree");
  const auto x = static_cast<double>(records);
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double count : thread_counts) {
      const auto threads = static_cast<unsigned>(count);
      auto store = std::make_unique<AbslStore>();
      const Measured measured =
          insert_all(threads, records, repetition + 1,
                     [&](std::uint64_t key, Bytes value) { return store->insert(key, value); });
      report.add({"absl::btree_map and a mutex", x, threads, repetition, "inserts_per_second",
                  measured.per_second()});
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
