#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>

#include "base/fibers/fiber_runtime.h"
#include "base/io/posix_file_system.h"
#include "base/programs/command_line.h"
#include "base/programs/program_words.h"
#include "base/runtime/thread_runtime.h"
#include "tpcc/consistency.h"
#include "tpcc/driver.h"
#include "tpcc/embedded/embedded_backend.h"
#include "tpcc/output.h"
#include "tpcc/settings.h"
#include "tpcc/sql_embedded/sql_database.h"
#include "tpcc/tpcb/embedded_tpcb.h"
#include "tpcc/tpcb/wire_tpcb.h"
#include "tpcc/wire/libpq_connection.h"

namespace swizzle::tpcc {
namespace {

constexpr const char* kUsage = R"(swizzle-tpcc load|run|check [options]

  load    makes the tables and fills them
  run     runs the mix; --load fills first, --check judges the data afterwards
  check   the consistency conditions 1 to 12

where        --backend embedded|sql-embedded|wire  --dir DIRECTORY | --url postgresql://…
what         --workload tpcc|tpcb
how much     --warehouses N (tpcc)  --scale N (tpcb)  --tiny (not TPC-C's sizes: for tests)
sessions     --runtime threads|fibers  --threads N  --sessions N  --affinity on|off
             --remote on|off (off: no transaction touches another warehouse; needed, with affinity,
             where --locking off meets several sessions)
time         --duration S  --warm-up S  --rate N  --think on|off  --seed N
             --transactions N (each session ends after N)  --only new_order|payment|…
engine       --pool swizzling|traditional|main_memory  --pool-bytes 4GiB  --replacement …
             --prefault on|off (on: the system gives the pool's memory before the start)
             --gclock-limit N  --cooling-percent N  --logging on|off  --locking on|off
             --wal-insert atomic_tail|consolidation_array|mutex
             --io automatic|io_uring|threads (valgrind does not see io_uring's completions)
transactions --isolation read_committed|repeatable_read|serializable (by locks)|
             serializable_snapshot (over the wire both as the server has it)
             --synchronous-commit on|off
wire         --pipelining on|off  --server-pid PID
in SQL       --procedures on|off (on: each transaction is a CALL of a procedure in PL/pgSQL)
output       --json FILE  --timeline FILE
)";

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Fills TPC-C's tables, with a line per second.
Result<> load(Backend& backend, const Settings& settings) {
  const auto start = Clock::now();
  auto shown = start;
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const Population population{settings.sizes, settings.run.seed, now.count()};
  RETURN_IF_ERROR(backend.load(population, [&](const char* table, std::uint64_t rows) {
    if (Clock::now() - shown < std::chrono::seconds{1}) return;
    shown = Clock::now();
    fmt::print(stderr, "  {:.0f} s: {} {} rows\n", seconds_since(start), table, rows);
  }));
  fmt::print("loaded {} warehouses in {:.2f} s\n", settings.sizes.warehouses, seconds_since(start));
  return {};
}

Result<> load(TpcbBackend& backend, const Settings& settings) {
  const auto start = Clock::now();
  RETURN_IF_ERROR(backend.load(settings.tpcb_sizes));
  fmt::print("loaded {} branches in {:.2f} s\n", settings.tpcb_sizes.branches,
             seconds_since(start));
  return {};
}

Result<Workload> workload_of(Backend& backend, const RunSettings& settings) {
  return tpcc_workload(backend, settings);
}
Result<Workload> workload_of(TpcbBackend& backend, const RunSettings& settings) {
  return tpcb_workload(backend, settings);
}

template <class SomeBackend>
Result<> check(SomeBackend& backend) {
  ASSIGN_OR_RETURN(const std::vector<std::string> violations, find_violations(backend));
  for (const std::string& violation : violations) fmt::print("{}\n", violation);
  if (violations.empty()) {
    fmt::print("all consistency conditions hold\n");
    return {};
  }
  return fail(sqlstate::data_corrupted, "the data is not consistent");
}

Result<RunResult> run_on_runtime(const Workload& workload, const Settings& settings) {
  if (settings.runtime == RuntimeName::threads) {
    ThreadRuntime threads;
    return run_workload(workload, threads, settings.run);
  }
  FiberRuntime fibers{{.reactors = settings.reactors, .io_engine = settings.io}};
  return run_workload(workload, fibers, settings.run);
}

Result<> run(const Workload& workload, const Settings& settings) {
  ASSIGN_OR_RETURN(RunResult result, run_on_runtime(workload, settings));
  const RunReport report{settings.shown, std::move(result)};
  print_report(report);
  if (!settings.json.empty()) RETURN_IF_ERROR(write_json(report, settings.json));
  if (!settings.timeline.empty()) RETURN_IF_ERROR(write_timeline(report, settings.timeline));
  return {};
}

/// Runs the verb on either workload.
template <class SomeBackend>
Result<> execute_on(SomeBackend& backend, const std::string& verb, bool loads,
                    const Settings& settings) {
  if (loads) RETURN_IF_ERROR(load(backend, settings));
  if (verb == "run") {
    ASSIGN_OR_RETURN(const Workload workload, workload_of(backend, settings.run));
    RETURN_IF_ERROR(run(workload, settings));
  }
  if (verb == "check" || settings.check_after) RETURN_IF_ERROR(check(backend));
  return backend.close();
}

/// Over connections that speak SQL.
Result<> execute_in_sql(const std::string& verb, bool loads, const WireSettings& wire,
                        const Settings& settings) {
  if (settings.workload == WorkloadName::tpcb) {
    ASSIGN_OR_RETURN(const auto backend, WireTpcb::open(wire));
    return execute_on(*backend, verb, loads, settings);
  }
  ASSIGN_OR_RETURN(const auto backend, WireBackend::open(wire));
  return execute_on(*backend, verb, loads, settings);
}

Result<> execute(const std::string& verb, const Settings& settings) {
  PosixFileSystem files{settings.io};
  const bool loads = verb == "load" || settings.load_first;
  if (settings.backend == BackendName::wire) {
    WireSettings wire = settings.wire;
    wire.connect = [&](Pipelining pipelining) {
      return LibpqConnection::open(settings.url, pipelining);
    };
    return execute_in_sql(verb, loads, wire, settings);
  }
  if (settings.backend == BackendName::sql_embedded) {
    ASSIGN_OR_RETURN(
        const auto database,
        SqlDatabase::start(loads ? SqlDatabase::Start::create : SqlDatabase::Start::open, files,
                           settings.directory, settings.engine));
    WireSettings local = settings.wire;
    local.connect = database->connect();
    RETURN_IF_ERROR(execute_in_sql(verb, loads, local, settings));
    return database->close();
  }
  if (settings.workload == WorkloadName::tpcb) {
    ASSIGN_OR_RETURN(
        const auto backend,
        EmbeddedTpcb::start(loads ? EmbeddedTpcb::Start::create : EmbeddedTpcb::Start::open, files,
                            settings.directory, settings.engine, settings.session));
    return execute_on(*backend, verb, loads, settings);
  }
  ASSIGN_OR_RETURN(
      const auto backend,
      EmbeddedBackend::start(loads ? EmbeddedBackend::Start::create : EmbeddedBackend::Start::open,
                             files, settings.directory, settings.engine, settings.session));
  return execute_on(*backend, verb, loads, settings);
}

int main_(int count, char** words) {
  constexpr std::string_view kName = "swizzle-tpcc";
  if (answers_program_words(count, words, kName, kUsage)) return 0;
  CommandLine options{count, words, {"tiny", "load", "check"}};
  const std::vector<std::string>& verbs = options.positional();
  const bool known =
      verbs.size() == 1 && (verbs[0] == "load" || verbs[0] == "run" || verbs[0] == "check");
  if (!known) return refuse_program_words(kName, "one of load, run and check is needed");
  Result<Settings> settings = read_settings(options);
  const Result<> result =
      settings ? execute(verbs[0], *settings) : fail(std::move(settings).error());
  if (result) return 0;
  fmt::print(stderr, "swizzle-tpcc: {} ({})\n", result.error().message(),
             result.error().state().code());
  return 1;
}

}  // namespace
}  // namespace swizzle::tpcc

int main(int count, char** words) {
  try {
    return swizzle::tpcc::main_(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "swizzle-tpcc: {}\n", error.what());
    return 1;
  }
}
