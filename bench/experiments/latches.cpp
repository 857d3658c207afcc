// B1: threads insert random 80-byte rows into a table. Counts exclusive latches above the leaves
// and on the index as a whole, and those for which a thread had to wait. B2: one thread, with
// growing numbers of rows. B3: growing numbers of threads. Compares with a B-tree that has an index
// latch.
//
// Parameters: --rows (each thread's; B2: a list), --loaded, --threads (B3: a list), --repetitions
#include <array>
#include <memory>

#include "bench/baselines/latched_tree.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape{8, 72};

struct Rows {
  std::uint64_t loaded;
  std::uint64_t per_thread;
  unsigned threads;
};

template <class Insert>
Measured insert_rows(const Rows& rows, Insert insert, const std::function<void()>& after_load) {
  const Permutation order{rows.loaded + rows.per_thread * rows.threads, 1};
  const auto put = [&](std::uint64_t position) {
    const std::uint64_t number = order(position);
    insert(number, Value{kShape, number}.bytes());
  };
  for (std::uint64_t i = 0; i < rows.loaded; ++i) put(i);
  after_load();
  return measure_once(rows.threads, [&](Worker& worker) {
    const std::uint64_t first = rows.loaded + rows.per_thread * worker.number();
    for (std::uint64_t i = 0; i < rows.per_thread; ++i) put(first + i);
    worker.did(rows.per_thread);
  });
}

/// Cost of an insertion; the counts are those of the insertion after the load.
struct Inserted {
  Measured measured;
  std::uint64_t index_latches = 0;
  std::uint64_t branch_latches = 0;
  std::uint64_t blocking_latches = 0;
  std::uint64_t splits = 0;

  Inserted operator-(const Inserted& before) const {
    return {measured, index_latches - before.index_latches, branch_latches - before.branch_latches,
            blocking_latches - before.blocking_latches, splits - before.splits};
  }
};

Result<Inserted> insert_into_foster(const Rows& rows) {
  NoDisk pages;
  const std::uint64_t total = rows.loaded + rows.per_thread * rows.threads;
  ASSIGN_OR_RETURN(const auto store, TreeStore<SwizzlingPool>::create(
                                         pages, total * 190 + (std::uint64_t{64} << 20U)));
  const auto counted = [&] {
    const TreeCounters& counters = store->tree().counters();
    // There is no latch on the index to take.
    return Inserted{{},
                    0,
                    counters.branch_latches.load(),
                    counters.branch_waits.load(),
                    counters.splits.load()};
  };
  Inserted before;
  const Measured measured = insert_rows(
      rows, [&](std::uint64_t key, Bytes value) { store->insert(Key{kShape, key}.bytes(), value); },
      [&] { before = counted(); });
  Inserted inserted = counted() - before;
  inserted.measured = measured;
  return inserted;
}

Result<Inserted> insert_into_latched(const Rows& rows) {
  LatchedTree tree{kShape.value_bytes};
  const auto counted = [&] {
    const std::uint64_t index = tree.counters().index_exclusive.load();
    const std::uint64_t branch = tree.counters().branch_exclusive.load();
    // Each exclusive latch makes its owner wait until it is free, and all others until it is given
    // back.
    return Inserted{{}, index, branch, index + branch, tree.counters().splits.load()};
  };
  Inserted before;
  const Measured measured = insert_rows(
      rows, [&](std::uint64_t key, Bytes value) { tree.insert(key, value); },
      [&] { before = counted(); });
  Inserted inserted = counted() - before;
  inserted.measured = measured;
  return inserted;
}

struct System {
  const char* name;
  Result<Inserted> (*insert)(const Rows& rows);
};
constexpr std::array kSystems{System{"Foster B-tree", insert_into_foster},
                              System{"tree latch", insert_into_latched}};

const System& whose_turn(std::size_t i, unsigned repetition) {
  return kSystems[(i + repetition) % kSystems.size()];
}

/// Compares the rates of both at `x`; their order alternates with the repetition.
Result<> compare_rates(const Rows& rows, double x, unsigned repetition, Report& report) {
  for (std::size_t i = 0; i < kSystems.size(); ++i) {
    const System& system = whose_turn(i, repetition);
    ASSIGN_OR_RETURN(const Inserted inserted, system.insert(rows));
    report.add(
        {system.name, x, 1, repetition, "inserts_per_second", inserted.measured.per_second()});
    report.add(
        {system.name, x, 1, repetition, "cpu_ns_per_insert",
         inserted.measured.cpu_seconds * 1e9 / static_cast<double>(inserted.measured.operations)});
  }
  return {};
}

/// How many latches `system` takes for these rows, and its rate.
Result<> count_latches(const Rows& rows, const System& system, unsigned repetition,
                       Report& report) {
  ASSIGN_OR_RETURN(const Inserted inserted, system.insert(rows));
  const auto x = static_cast<double>(rows.per_thread * rows.threads);
  const auto add = [&](const char* metric, double value) {
    report.add({system.name, x, rows.threads, repetition, metric, value});
  };
  const auto count = [&](const char* metric, std::uint64_t value) {
    add(metric, static_cast<double>(value));
  };
  count("index_latches", inserted.index_latches);
  count("branch_latches", inserted.branch_latches);
  count("exclusive_latches", inserted.index_latches + inserted.branch_latches);
  count("blocking_latches", inserted.blocking_latches);
  count("splits", inserted.splits);
  add("inserts_per_second", inserted.measured.per_second());
  return {};
}

unsigned repetitions_of(Context& context) {
  return static_cast<unsigned>(
      context.options().number("repetitions", context.by_scale(3U, 1U, 1U)));
}

}  // namespace

Result<> run_b1(Context& context) {
  CommandLine& options = context.options();
  Rows rows{};
  rows.per_thread =
      options.number("rows", context.by_scale<std::uint64_t>(1'000'000, 50'000, 1'000));
  rows.loaded =
      options.number("loaded", context.by_scale<std::uint64_t>(1'000'000, 100'000, 2'000));
  rows.threads = static_cast<unsigned>(options.number("threads", 16));
  const unsigned repetitions = repetitions_of(context);
  RETURN_IF_ERROR(options.finish());
  Report report{"B1", "rows", context.csv()};
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < kSystems.size(); ++i)
      RETURN_IF_ERROR(count_latches(rows, whose_turn(i, repetition), repetition, report));
  }
  report.print_summary();
  return report.write();
}

Result<> run_b2(Context& context) {
  CommandLine& options = context.options();
  const auto counts = options.reals(
      "rows",
      context.by_scale("1000000,2000000,4000000,8000000,16000000", "100000,400000", "2000"));
  const std::uint64_t loaded = options.number("loaded", 0);
  const unsigned repetitions = repetitions_of(context);
  RETURN_IF_ERROR(options.finish());
  Report report{"B2", "rows", context.csv()};
  report.note("loaded", static_cast<double>(loaded));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double count : counts) {
      const Rows rows{
          .loaded = loaded, .per_thread = static_cast<std::uint64_t>(count), .threads = 1};
      RETURN_IF_ERROR(compare_rates(rows, count, repetition, report));
    }
  }
  report.print_summary();
  return report.write();
}

Result<> run_b3(Context& context) {
  CommandLine& options = context.options();
  const auto counts = options.reals("threads", context.by_scale("16,32,64", "16,64", "4"));
  Rows rows{};
  rows.per_thread = options.number("rows", context.by_scale<std::uint64_t>(125'000, 5'000, 500));
  rows.loaded =
      options.number("loaded", context.by_scale<std::uint64_t>(1'000'000, 100'000, 2'000));
  const unsigned repetitions = repetitions_of(context);
  RETURN_IF_ERROR(options.finish());
  Report report{"B3", "connections", context.csv()};
  report.note("rows", static_cast<double>(rows.per_thread));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double count : counts) {
      rows.threads = static_cast<unsigned>(count);
      RETURN_IF_ERROR(compare_rates(rows, count, repetition, report));
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
