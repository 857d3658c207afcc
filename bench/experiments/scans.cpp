// L8: one thread scans a small table again and again, another a large one, over pool sizes from a
// fraction of the large table to more than both: does the large scan push the small table out?
//
// Parameters: --large-bytes, --small-share, --pools (shares of both tables), --seconds,
// --repetitions
#include <memory>

#include "base/posix_file_system.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/workload.h"
#include "storage/engine.h"
#include "storage/statistics.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;
constexpr std::uint64_t kRecordBytes = 140;

struct ScanPlan {
  std::uint64_t large_records;
  std::uint64_t small_records;
  Load load;
};

Result<TreeId> load_table(Engine& engine, std::uint64_t records) {
  const auto transaction = engine.begin();
  ASSIGN_OR_RETURN(const TreeId tree, engine.create_tree(*transaction));
  std::uint64_t index = 0;
  Key key{kShape, 0};
  Value value{kShape, 0};
  const auto next = [&]() -> Result<std::optional<Engine::Record>> {
    if (index == records) return std::optional<Engine::Record>{};
    key = Key{kShape, index};
    value = Value{kShape, index++};
    return std::optional{Engine::Record{key.bytes(), value.bytes()}};
  };
  RETURN_IF_ERROR(engine.bulk_load(*transaction, tree, next));
  RETURN_IF_ERROR(transaction->commit());
  return tree;
}

/// Scans until the time is over; counts records.
Result<> scan_repeatedly(Engine& engine, TreeId id, ScanHint hint, Worker& worker) {
  ASSIGN_OR_RETURN(const Tree tree, engine.tree(id));
  while (worker.running()) {
    const auto transaction = engine.begin(Isolation::read_committed, Access::read_only);
    ASSIGN_OR_RETURN(Cursor cursor, tree.scan(*transaction, {}, Direction::forward,
                                              ReadMode::snapshot, WaitPolicy::wait, hint));
    std::uint64_t seen = 0;
    while (worker.running()) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) break;
      if (++seen % 64 == 0) worker.did(64);
    }
  }
  return {};
}

Result<> measure_scans(const std::filesystem::path& directory, const ScanPlan& plan,
                       std::uint64_t pool_bytes, ScanHint hint, double share, unsigned repetition,
                       const std::array<TreeId, 2>& tables, Report& report) {
  PosixFileSystem files;
  EngineOptions options;
  options.pool_bytes = pool_bytes;
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, options));
  std::array<std::atomic<std::uint64_t>, 2> records{};
  std::atomic<bool> failed{false};
  const std::uint64_t reads_before = engine->statistics().pages_read;
  const Measured measured = measure(plan.load, [&](Worker& worker) {
    const std::size_t which = worker.number();
    // Only the large scan is hinted: the small table is what ought to stay.
    const Result<> result =
        scan_repeatedly(*engine, tables[which], which == 0 ? ScanHint::none : hint, worker);
    if (!result) failed = true;
    records[which] = worker.operations();
  });
  if (failed) return fail(sqlstate::internal_error, "a scan failed");
  const char* mode = hint == ScanHint::large ? "hinted" : "no hint";
  const double seconds = plan.load.warm_up_seconds + measured.seconds;
  const auto mib = [&](std::uint64_t count) {
    return static_cast<double>(count * kRecordBytes) / seconds / (1U << 20U);
  };
  report.add({std::string{"small table, "} + mode, share, 2, repetition, "mib_per_second",
              mib(records[0])});
  report.add({std::string{"large table, "} + mode, share, 2, repetition, "mib_per_second",
              mib(records[1])});
  report.add(
      {std::string{"device, "} + mode, share, 2, repetition, "read_mib_per_second",
       static_cast<double>((engine->statistics().pages_read - reads_before) * 8) / 1024 / seconds});
  return engine->close();
}

}  // namespace

Result<> run_l8(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t large_bytes = options.bytes(
      "large-bytes",
      context.by_scale<std::uint64_t>(std::uint64_t{1} << 30U, 96U << 20U, 8U << 20U));
  const double small_share = options.real("small-share", 0.07);
  const auto shares =
      options.reals("pools", context.by_scale("0.2,0.4,0.6,0.8,1,1.2", "0.3,0.7,1.2", "0.5"));
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(3U, 1U, 1U)));
  ScanPlan plan{};
  plan.large_records = large_bytes / kRecordBytes;
  plan.small_records =
      static_cast<std::uint64_t>(static_cast<double>(plan.large_records) * small_share);
  plan.load.threads = 2;
  plan.load.seconds = options.real("seconds", context.by_scale(8.0, 1.5, 0.1));
  RETURN_IF_ERROR(options.finish());

  Report report{"L8", "pool_share", context.csv()};
  report.note("large_bytes", static_cast<double>(large_bytes));
  PosixFileSystem files;
  EngineOptions loading;
  loading.pool_bytes = large_bytes * 2 + (std::uint64_t{64} << 20U);
  const std::filesystem::path directory = context.directory() / "database";
  RETURN_IF_ERROR(Engine::create(files, directory, loading));
  std::array<TreeId, 2> tables{};
  {
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, loading));
    ASSIGN_OR_RETURN(tables[0], load_table(*engine, plan.small_records));
    ASSIGN_OR_RETURN(tables[1], load_table(*engine, plan.large_records));
    RETURN_IF_ERROR(engine->close());
  }
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const double share : shares) {
      const auto pool_bytes = static_cast<std::uint64_t>(share * static_cast<double>(large_bytes) *
                                                         (1 + small_share) * 1.15);
      for (const ScanHint hint : {ScanHint::none, ScanHint::large}) {
        RETURN_IF_ERROR(
            measure_scans(directory, plan, pool_bytes, hint, share, repetition, tables, report));
      }
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
