// B1: threads insert random 80-byte rows into a table; how many exclusive latches are taken above
// the leaves and on the index as a whole, and how many of them by somebody who would wait for it?
// Ours against a B-tree with a tree latch.
//
// Parameters: --rows (each thread's), --loaded, --threads, --systems swizzling,latched
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

void add(Report& report, const std::string& system, const Rows& rows, const Measured& measured,
         double index_latches, double branch_latches, double blocking_latches, double splits) {
  const auto x = static_cast<double>(rows.per_thread * rows.threads);
  const auto one = [&](const char* metric, double value) {
    report.add({system, x, rows.threads, 0, metric, value});
  };
  one("index_latches", index_latches);
  one("branch_latches", branch_latches);
  one("exclusive_latches", index_latches + branch_latches);
  one("blocking_latches", blocking_latches);
  one("splits", splits);
  one("inserts_per_second", measured.per_second());
}

Result<> foster(const Rows& rows, Report& report) {
  NoDisk pages;
  const std::uint64_t total = rows.loaded + rows.per_thread * rows.threads;
  ASSIGN_OR_RETURN(const auto store, TreeStore<SwizzlingPool>::create(
                                         pages, total * 190 + (std::uint64_t{64} << 20U)));
  const TreeCounters& counters = store->tree().counters();
  std::uint64_t latches_before = 0;
  std::uint64_t waits_before = 0;
  std::uint64_t splits_before = 0;
  const Measured measured = insert_rows(
      rows, [&](std::uint64_t key, Bytes value) { store->insert(Key{kShape, key}.bytes(), value); },
      [&] {
        latches_before = counters.branch_latches.load();
        waits_before = counters.branch_waits.load();
        splits_before = counters.splits.load();
      });
  // There is no latch on the index to take.
  add(report, "Foster B-tree", rows, measured, 0,
      static_cast<double>(counters.branch_latches.load() - latches_before),
      static_cast<double>(counters.branch_waits.load() - waits_before),
      static_cast<double>(counters.splits.load() - splits_before));
  return {};
}

void latched(const Rows& rows, Report& report) {
  LatchedTree tree{kShape.value_bytes};
  const LatchedTree::Counters& counters = tree.counters();
  std::uint64_t index_before = 0;
  std::uint64_t branch_before = 0;
  std::uint64_t splits_before = 0;
  const Measured measured = insert_rows(
      rows, [&](std::uint64_t key, Bytes value) { tree.insert(key, value); },
      [&] {
        index_before = counters.index_exclusive.load();
        branch_before = counters.branch_exclusive.load();
        splits_before = counters.splits.load();
      });
  // Whoever asks for one of these waits until it is free, and everybody else until it is given
  // back.
  const auto index = static_cast<double>(counters.index_exclusive.load() - index_before);
  const auto branch = static_cast<double>(counters.branch_exclusive.load() - branch_before);
  add(report, "tree latch", rows, measured, index, branch, index + branch,
      static_cast<double>(counters.splits.load() - splits_before));
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
  RETURN_IF_ERROR(options.finish());
  Report report{"B1", "rows", context.csv()};
  RETURN_IF_ERROR(foster(rows, report));
  latched(rows, report);
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
