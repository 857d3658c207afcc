// I0: random inserts in memory, ours against absl::btree_map behind one mutex.
// G3: 20-byte keys and values; five times as many as are there already, in the three pool modes.
//
// Parameters: --records, --threads 1,2, --repetitions, --systems
// swizzling,main_memory,traditional,absl
#include <memory>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "bench/baselines/absl_store.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/stores/pool_choice.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;

/// Inserts positions t, t + n, t + 2n … of the random order in thread t of n.
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

template <class Pool>
Result<Measured> measure_tree(unsigned threads, std::uint64_t records, std::uint64_t seed) {
  NoDisk no_disk;
  ASSIGN_OR_RETURN(const auto store,
                   TreeStore<Pool>::create(no_disk, records * 260 + (std::uint64_t{64} << 20U)));
  return insert_all(threads, records, seed, [&](std::uint64_t key, Bytes value) {
    return store->insert(Key{kShape, key}.bytes(), value);
  });
}

Measured measure_absl(unsigned threads, std::uint64_t records, std::uint64_t seed) {
  const auto store = std::make_unique<AbslStore>();
  return insert_all(threads, records, seed,
                    [&](std::uint64_t key, Bytes value) { return store->insert(key, value); });
}

Result<Measured> measure_system(const std::string& system, unsigned threads, std::uint64_t records,
                                std::uint64_t seed) {
  if (system == "swizzling") return measure_tree<SwizzlingPool>(threads, records, seed);
  if (system == "main_memory") return measure_tree<MainMemoryPool>(threads, records, seed);
  if (system == "traditional") return measure_tree<TraditionalPool>(threads, records, seed);
  if (system == "absl") return measure_absl(threads, records, seed);
  return fail(sqlstate::invalid_parameter_value, "no such system: " + system);
}

}  // namespace

Result<> run_i0(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t records =
      options.number("records", context.by_scale<std::uint64_t>(10'000'000, 1'000'000, 10'000));
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)));
  const std::vector<double> thread_counts = options.reals("threads", "1,2");
  const std::vector<std::string> systems =
      options.list("systems", "swizzling,main_memory,traditional,absl");
  RETURN_IF_ERROR(options.finish());

  Report report{"I0", "records", context.csv()};
  report.note("records",
              "8-byte keys, 120-byte values, inserted in random order into an empty tree");
  const auto x = static_cast<double>(records);
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double threads : thread_counts) {
      for (const std::string& system : systems) {
        const auto count = static_cast<unsigned>(threads);
        ASSIGN_OR_RETURN(const Measured measured,
                         measure_system(system, count, records, repetition + 1));
        report.add({system == "absl" ? "absl::btree_map and a mutex" : system, x, count, repetition,
                    "inserts_per_second", measured.per_second()});
        report.add({system == "absl" ? "absl::btree_map and a mutex" : system, x, count, repetition,
                    "cpu_ns_per_operation",
                    measured.cpu_seconds * 1e9 / static_cast<double>(measured.operations)});
      }
    }
  }
  report.print_summary();
  return report.write();
}

namespace {

template <class Pool>
Result<Measured> grow_tree(const ReplacementOptions& replacement, unsigned threads,
                           std::uint64_t loaded, std::uint64_t seed) {
  constexpr RecordShape kNarrow = kTwentyAndTwenty;
  NoDisk no_disk;
  ASSIGN_OR_RETURN(
      const auto store,
      TreeStore<Pool>::create(no_disk, loaded * 6 * 110 + (std::uint64_t{64} << 20U), replacement));
  const Permutation order{loaded * 6, seed};
  const auto put = [&](std::uint64_t position) {
    const std::uint64_t number = order(position);
    const bool inserted =
        store->insert(Key{kNarrow, number}.bytes(), Value{kNarrow, number}.bytes());
    INVARIANT(inserted);
  };
  for (std::uint64_t i = 0; i < loaded; ++i) put(i);
  return measure_once(threads, [&](Worker& worker) {
    for (std::uint64_t i = loaded + worker.number(); i < loaded * 6; i += threads) {
      put(i);
      worker.did(1);
    }
  });
}

}  // namespace

Result<> run_g3(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t loaded =
      options.number("loaded", context.by_scale<std::uint64_t>(1'000'000, 100'000, 2'000));
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)));
  const auto systems = options.list("systems", "swizzling,main_memory,traditional");
  const std::vector<double> thread_counts = options.reals("threads", "1,2");
  RETURN_IF_ERROR(options.finish());

  Report report{"G3", "records", context.csv()};
  report.note("records", "20-byte keys and values; five times the loaded records are inserted");
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double threads : thread_counts) {
      const auto count = static_cast<unsigned>(threads);
      for (const std::string& system : systems) {
        ASSIGN_OR_RETURN(const PoolChoice choice, parse_pool(system));
        ASSIGN_OR_RETURN(const Measured measured, with_pool_of(choice.mode, [&]<class Pool>() {
                           return grow_tree<Pool>(choice.replacement, count, loaded,
                                                  repetition + 1);
                         }));
        report.add({system, static_cast<double>(loaded * 5), count, repetition,
                    "inserts_per_second", measured.per_second()});
      }
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
