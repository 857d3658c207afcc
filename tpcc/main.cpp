#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>

#include "base/command_line.h"
#include "base/posix_file_system.h"
#include "base/thread_runtime.h"
#include "tpcc/consistency.h"
#include "tpcc/driver.h"
#include "tpcc/embedded/embedded_backend.h"
#include "tpcc/output.h"
#include "tpcc/settings.h"

namespace swizzle::tpcc {
namespace {

constexpr const char* kUsage = R"(swizzle-tpcc load|run|check [options]

  load    makes the tables and fills them
  run     runs the mix; --load fills first, --check judges the data afterwards
  check   the consistency conditions 1 to 12

where        --backend embedded|wire  --dir DIRECTORY | --url postgresql://…
how much     --warehouses N  --tiny (not TPC-C's sizes: for tests)
sessions     --runtime threads|fibers  --threads N  --sessions N  --affinity on|off
time         --duration S  --warm-up S  --rate N  --think on|off  --seed N
engine       --pool swizzling|traditional|main_memory  --pool-bytes 4GiB  --replacement …
             --gclock-limit N  --cooling-percent N  --logging on|off  --locking on|off
transactions --isolation read_committed|repeatable_read|serializable
             --synchronous-commit on|off
wire         --pipelining on|off  --server-pid PID
output       --json FILE  --timeline FILE
)";

Result<std::unique_ptr<Backend>> open_backend(const Settings& settings, FileSystem& files,
                                              EmbeddedBackend::Start how) {
  if (settings.backend == BackendName::wire) {
    ASSIGN_OR_RETURN(auto backend, WireBackend::open(settings.wire));
    return std::unique_ptr<Backend>{std::move(backend)};
  }
  ASSIGN_OR_RETURN(auto backend, EmbeddedBackend::start(how, files, settings.directory,
                                                        settings.engine, settings.session));
  return std::unique_ptr<Backend>{std::move(backend)};
}

Result<> load(Backend& backend, const Settings& settings) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto shown = start;
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const Population population{settings.sizes, settings.run.seed, now.count()};
  RETURN_IF_ERROR(backend.load(population, [&](const char* table, std::uint64_t rows) {
    if (Clock::now() - shown < std::chrono::seconds{1}) return;
    shown = Clock::now();
    fmt::print(stderr, "  {:.0f} s: {} {} rows\n",
               std::chrono::duration<double>(shown - start).count(), table, rows);
  }));
  fmt::print("loaded {} warehouses in {:.2f} s\n", settings.sizes.warehouses,
             std::chrono::duration<double>(Clock::now() - start).count());
  return {};
}

Result<> check(Backend& backend) {
  ASSIGN_OR_RETURN(const std::vector<std::string> violations, find_violations(backend));
  for (const std::string& violation : violations) fmt::print("{}\n", violation);
  if (violations.empty()) {
    fmt::print("consistency conditions 1 to 12 hold\n");
    return {};
  }
  return fail(sqlstate::data_corrupted, "the data is not consistent");
}

Result<> run(Backend& backend, const Settings& settings) {
  if (settings.runtime == RuntimeName::fibers) {
    return fail(sqlstate::feature_not_supported, "--runtime fibers is not supported yet");
  }
  ThreadRuntime threads;
  ASSIGN_OR_RETURN(RunResult result, run_mix(backend, threads, settings.run));
  const RunReport report{settings.shown, std::move(result)};
  print_report(report);
  if (!settings.json.empty()) RETURN_IF_ERROR(write_json(report, settings.json));
  if (!settings.timeline.empty()) RETURN_IF_ERROR(write_timeline(report, settings.timeline));
  return {};
}

Result<> execute(const std::string& verb, const Settings& settings) {
  PosixFileSystem files;
  const bool loads = verb == "load" || settings.load_first;
  ASSIGN_OR_RETURN(const auto backend, open_backend(settings, files,
                                                    loads ? EmbeddedBackend::Start::create
                                                          : EmbeddedBackend::Start::open));
  if (loads) RETURN_IF_ERROR(load(*backend, settings));
  if (verb == "run") RETURN_IF_ERROR(run(*backend, settings));
  if (verb == "check" || settings.check_after) RETURN_IF_ERROR(check(*backend));
  return backend->close();
}

int main_(int count, char** words) {
  CommandLine options{count, words, {"tiny", "load", "check", "help"}};
  const std::vector<std::string>& verbs = options.positional();
  const bool known =
      verbs.size() == 1 && (verbs[0] == "load" || verbs[0] == "run" || verbs[0] == "check");
  if (options.flag("help") || !known) {
    fmt::print("{}", kUsage);
    return options.flag("help") ? 0 : 2;
  }
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
