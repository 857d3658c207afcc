// L8: one thread scans a small table again and again, another a large one, over pool sizes from a
// fraction of the large table to more than both: does the large scan push the small table out? And
// the large scan alone, cold, in the smallest of these pools: how near does it come to what fio
// reads in sequence?
//
// Parameters: --large-bytes, --small-share, --pools (shares of both tables), --policy clock_sweep
// (stores/pool_choice.h), --mode swizzling, --hints none,sequential,large, --seconds, --repetitions
#include <memory>

#include "base/io/posix_file_system.h"
#include "bench/baselines/fio.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/stores/pool_choice.h"
#include "bench/workload.h"
#include "storage/engine.h"
#include "storage/space/volume.h"
#include "storage/statistics.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;
constexpr std::uint64_t kRecordBytes = 140;

constexpr std::array kHints{ScanHint::none, ScanHint::sequential, ScanHint::large};
const char* name_of(ScanHint hint) noexcept {
  switch (hint) {
    case ScanHint::none:
      return "no hint";
    case ScanHint::sequential:
      return "read ahead";
    case ScanHint::large:
      return "hinted";
  }
  return "";
}

struct ScanPlan {
  std::uint64_t large_records;
  std::uint64_t small_records;
  Load load;
  PoolChoice pool;

  [[nodiscard]] EngineOptions engine(std::uint64_t pool_bytes) const {
    EngineOptions options;
    options.pool_bytes = pool_bytes;
    options.pool_mode = pool.mode;
    options.replacement = pool.replacement.policy;
    options.gclock_limit = pool.replacement.gclock_limit;
    options.cooling_percent = pool.replacement.cooling_percent;
    return options;
  }
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

/// Scans until the time is over and counts records.
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
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, plan.engine(pool_bytes)));
  std::array<std::atomic<std::uint64_t>, 2> records{};
  std::atomic<bool> failed{false};
  const std::uint64_t reads_before = engine->statistics().pages_read;
  const Measured measured = measure(plan.load, [&](Worker& worker) {
    const std::size_t which = worker.number();
    // Hint only the large scan, since the small table ought to stay.
    const Result<> result =
        scan_repeatedly(*engine, tables[which], which == 0 ? ScanHint::none : hint, worker);
    if (!result) failed = true;
    records[which] = worker.operations();
  });
  if (failed) return fail(sqlstate::internal_error, "a scan failed");
  const char* mode = name_of(hint);
  const double seconds = plan.load.warm_up_seconds + measured.seconds;
  const auto mib = [&](std::uint64_t count) {
    return static_cast<double>(count * kRecordBytes) / seconds / (1U << 20U);
  };
  report.add({std::string{"small table: "} + mode, share, 2, repetition, "mib_per_second",
              mib(records[0])});
  report.add({std::string{"large table: "} + mode, share, 2, repetition, "mib_per_second",
              mib(records[1])});
  report.add(
      {std::string{"device: "} + mode, share, 2, repetition, "read_mib_per_second",
       static_cast<double>((engine->statistics().pages_read - reads_before) * 8) / 1024 / seconds});
  return engine->close();
}

/// Scans the large table once with nothing else running.
Result<> scan_alone(const std::filesystem::path& directory, const ScanPlan& plan,
                    std::uint64_t pool_bytes, ScanHint hint, double share, unsigned repetition,
                    TreeId table, Report& report) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory, plan.engine(pool_bytes)));
  const std::uint64_t reads_before = engine->statistics().pages_read;
  Result<> result;
  const Measured measured = measure_once(1, [&](Worker& worker) {
    result = [&]() -> Result<> {
      ASSIGN_OR_RETURN(const Tree tree, engine->tree(table));
      const auto transaction = engine->begin(Isolation::read_committed, Access::read_only);
      ASSIGN_OR_RETURN(Cursor cursor, tree.scan(*transaction, {}, Direction::forward,
                                                ReadMode::snapshot, WaitPolicy::wait, hint));
      while (true) {
        ASSIGN_OR_RETURN(const bool more, cursor.next());
        if (!more) return {};
        worker.did(1);
      }
    }();
  });
  RETURN_IF_ERROR(std::move(result));
  if (measured.operations != plan.large_records)
    return fail(sqlstate::internal_error, "a scan saw another number of records");
  const std::string system = std::string{"large table alone: "} + name_of(hint);
  report.add({system, share, 1, repetition, "read_mib_per_second",
              static_cast<double>((engine->statistics().pages_read - reads_before) * 8) / 1024 /
                  measured.seconds});
  report.add({system, share, 1, repetition, "cpu_ns_per_page",
              measured.cpu_seconds * 1e9 /
                  static_cast<double>(
                      std::max<std::uint64_t>(1, engine->statistics().pages_read - reads_before))});
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
  const std::string mode = options.text("mode", "swizzling");
  const std::string policy = options.text("policy", "clock_sweep");
  ASSIGN_OR_RETURN(plan.pool, parse_pool(mode + "/" + policy));
  RETURN_IF_ERROR(options.finish());

  Report report{"L8", "pool_share", context.csv()};
  report.note("large_bytes", static_cast<double>(large_bytes));
  const double smallest = *std::ranges::min_element(shares);
  report.note("smallest_pool_share", smallest);
  report.note("pool", mode + "/" + policy);
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
  const auto bytes_of_pool = [&](double share) {
    return static_cast<std::uint64_t>(share * static_cast<double>(large_bytes) * (1 + small_share) *
                                      1.15);
  };
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    if (context.scale() != Scale::smoke) {
      if (const auto reference = fio_sequential_mib_per_second(directory / Volume::kFileName, 3))
        report.add({"fio sequential", smallest, 1, repetition, "read_mib_per_second", *reference});
    }
    for (const ScanHint hint : kHints)
      RETURN_IF_ERROR(scan_alone(directory, plan, bytes_of_pool(smallest), hint, smallest,
                                 repetition, tables[1], report));
    for (const double share : shares) {
      for (const ScanHint hint : kHints) {
        RETURN_IF_ERROR(measure_scans(directory, plan, bytes_of_pool(share), hint, share,
                                      repetition, tables, report));
      }
    }
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
