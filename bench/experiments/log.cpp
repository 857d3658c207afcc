// R1: insertion into the log by threads that do nothing else, the three ways of taking a place.
//     Parameters: --threads, --payload, --repetitions
// R2: commits per second and their latency over the number of committers, against a bare O_DSYNC
//     write of the same size. Parameters: --committers, --payload, --seconds, --repetitions
#include "wal/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "bench/experiments/all.h"
#include "bench/load.h"
#include "bench/report.h"

namespace swizzle::bench {
namespace {

constexpr std::array kModes{
    std::pair{"mutex", wal::InsertMode::plain_mutex},
    std::pair{"consolidation array", wal::InsertMode::consolidation_array},
    std::pair{"fetch-and-add", wal::InsertMode::atomic_tail},
};

/// The record that a row's update writes in a young database.
constexpr wal::RecordHeader kUpdate{.kind = wal::RecordKind{17},
                                    .txn = TxnId{123'456},
                                    .txn_prev = Lsn{8'000'000},
                                    .page = PageId{4711},
                                    .page_prev = Lsn{9'000'000},
                                    .tree = TreeId{12}};

/// A log of its own in a directory that is removed with it.
class ScratchLog {
 public:
  static Result<std::unique_ptr<ScratchLog>> create(const std::filesystem::path& directory,
                                                    wal::InsertMode mode) {
    auto scratch = std::unique_ptr<ScratchLog>(new ScratchLog(directory));
    std::filesystem::create_directories(directory);
    wal::LogOptions options;
    options.directory = directory;
    options.database_id = 1;
    options.buffer_bytes = std::size_t{64} << 20U;
    options.insert = mode;
    ASSIGN_OR_RETURN(scratch->log_, wal::Log::create(scratch->files_, options));
    return scratch;
  }
  ScratchLog(const ScratchLog&) = delete;
  ScratchLog& operator=(const ScratchLog&) = delete;
  ~ScratchLog() {
    if (log_) log_->close();
    log_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  [[nodiscard]] wal::Log& log() noexcept { return *log_; }
  /// Returns false if there was no room, so that the caller has no figure.
  bool append(Bytes payload, Lsn& end) {
    auto space = log_->reserve(payload.size());
    if (!space) return false;
    end = log_->append(*space, kUpdate, payload).end;
    return true;
  }

 private:
  explicit ScratchLog(std::filesystem::path directory) : directory_(std::move(directory)) {}
  const std::filesystem::path directory_;
  PosixFileSystem files_;
  std::unique_ptr<wal::Log> log_;
};

// The ring holds a whole run, so that no thread waits for the writer.
Result<> insert_run(const std::filesystem::path& directory, std::string_view name,
                    wal::InsertMode mode, unsigned threads, std::size_t payload_bytes,
                    unsigned repetition, Report& report) {
  ASSIGN_OR_RETURN(const auto scratch, ScratchLog::create(directory, mode));
  const std::string payload(payload_bytes, 'x');
  const std::uint64_t each = (std::uint64_t{12} << 20U) / (payload_bytes + 48) / threads;
  std::atomic<bool> failed{false};
  constexpr int kRuns = 5;
  std::vector<double> rates;
  std::vector<double> cpu;
  for (int run = 0; run < kRuns; ++run) {
    const Measured measured = measure_once(threads, [&](Worker& worker) {
      Lsn end{};
      for (std::uint64_t i = 0; i < each; ++i)
        if (!scratch->append(as_bytes(payload), end)) failed = true;
      worker.did(each);
    });
    rates.push_back(measured.per_second());
    cpu.push_back(measured.cpu_seconds / static_cast<double>(measured.operations) * 1e9);
    scratch->log().flush_to(scratch->log().tail());
    scratch->log().keep_from(scratch->log().durable());
  }
  if (failed) return fail(sqlstate::disk_full, "no room for the log");
  std::ranges::sort(rates);
  std::ranges::sort(cpu);
  report.add({std::string{name}, static_cast<double>(threads), 1, repetition, "inserts_per_second",
              rates[kRuns / 2]});
  report.add({std::string{name}, static_cast<double>(threads), 1, repetition, "cpu_ns_per_insert",
              cpu[kRuns / 2]});
  return {};
}

Result<double> bare_writes_per_second(const std::filesystem::path& path, double seconds) {
  constexpr std::size_t kBlock = 4096;
  constexpr std::size_t kFile = std::size_t{16} << 20U;
  struct alignas(kBlock) Block {
    std::array<std::byte, kBlock> bytes{};
  };
  const auto block = std::make_unique<Block>();
  // Zeros are a special case for some devices.
  Random random{1};
  for (std::byte& byte : block->bytes) byte = static_cast<std::byte>(random());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_DSYNC, 0600);
  bool ok = file >= 0;
  const auto write_at = [&](std::size_t at) {
    ok = ok && pwrite(file, block->bytes.data(), kBlock, static_cast<off_t>(at)) ==
                   static_cast<ssize_t>(kBlock);
  };
  for (std::size_t at = 0; at < kFile; at += kBlock) write_at(at);
  // Uses a worker thread like the committers': the processor that the scheduler chooses makes a
  // third of the time.
  Load load;
  load.seconds = seconds;
  load.warm_up_seconds = seconds / 5;
  const Measured measured = measure(load, [&](Worker& worker) {
    // As a log does with small commits: the same block several times, then the next.
    for (std::uint64_t writes = 0; ok && worker.running(); worker.did(1))
      write_at(writes++ / 16 * kBlock % kFile);
  });
  if (file >= 0) close(file);
  std::filesystem::remove(path);
  if (!ok) return fail(sqlstate::io_error, "the device cannot be written with O_DIRECT, O_DSYNC");
  return measured.per_second();
}

Result<> commit_run(const std::filesystem::path& directory, unsigned committers,
                    const std::string& payload, double seconds, unsigned repetition,
                    Report& report) {
  ASSIGN_OR_RETURN(const auto scratch, ScratchLog::create(directory, wal::InsertMode::atomic_tail));
  std::atomic<bool> failed{false};
  Load load;
  load.threads = committers;
  load.seconds = seconds;
  load.warm_up_seconds = seconds / 5;
  const Measured measured = measure(load, [&](Worker& worker) {
    Lsn end{};
    for (std::uint64_t commits = 0; worker.running(); ++commits) {
      if (!scratch->append(as_bytes(payload), end)) failed = true;
      scratch->log().flush_to(end);
      worker.did(1);
      // As checkpoints would: segments are recycled, not zeroed beside the commits.
      if (commits % 4096 == 0) scratch->log().keep_from(scratch->log().durable());
    }
  });
  if (failed) return fail(sqlstate::disk_full, "no room for the log");
  const auto x = static_cast<double>(committers);
  report.add({"commits", x, 1, repetition, "per_second", measured.per_second()});
  report.add({"commits", x, 1, repetition, "latency_us", x / measured.per_second() * 1e6});
  return {};
}

std::vector<unsigned> counts(CommandLine& options, const std::string& name,
                             std::string_view fallback) {
  std::vector<unsigned> found;
  for (const double count : options.reals(name, fallback))
    found.push_back(static_cast<unsigned>(count));
  return found;
}

}  // namespace

Result<> run_r1(Context& context) {
  CommandLine& options = context.options();
  const auto threads = counts(options, "threads", context.by_scale("1,2,4,16,64", "1,2,64", "2"));
  const std::size_t payload = options.number("payload", 60);
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(5U, 2U, 1U)));
  RETURN_IF_ERROR(options.finish());
  Report report{"R1", "threads", context.csv()};
  report.note("payload_bytes", static_cast<double>(payload));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    for (const unsigned count : threads) {
      for (std::size_t i = 0; i < kModes.size(); ++i) {
        const auto& [name, mode] = kModes[repetition % 2 == 0 ? i : kModes.size() - 1 - i];
        RETURN_IF_ERROR(insert_run(context.directory() / "log", name, mode, count, payload,
                                   repetition, report));
      }
    }
  }
  report.print_summary();
  return report.write();
}

Result<> run_r2(Context& context) {
  CommandLine& options = context.options();
  const auto committers =
      counts(options, "committers", context.by_scale("1,2,4,16,64", "1,64", "4"));
  const std::string payload(options.number("payload", 200), 'x');
  const double seconds = options.real("seconds", context.by_scale(2.0, 1.0, 0.05));
  const auto repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(5U, 2U, 1U)));
  RETURN_IF_ERROR(options.finish());
  Report report{"R2", "committers", context.csv()};
  report.note("payload_bytes", static_cast<double>(payload.size()));
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    ASSIGN_OR_RETURN(const double bare,
                     bare_writes_per_second(context.directory() / "bare", seconds / 2));
    report.add({"bare O_DSYNC write", 1, 1, repetition, "per_second", bare});
    report.add({"bare O_DSYNC write", 1, 1, repetition, "latency_us", 1e6 / bare});
    for (const unsigned count : committers)
      RETURN_IF_ERROR(
          commit_run(context.directory() / "log", count, payload, seconds, repetition, report));
  }
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
