#include <spdlog/spdlog.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "wal/archive_command.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;
using namespace std::chrono_literals;

namespace {

std::vector<Written> fill(Log& log, Random& random, int records) {
  std::vector<Written> written;
  for (int i = 0; i < records; ++i) written.push_back(append_random(log, random, 400));
  log.flush_to(written.back().end);
  return written;
}

void wait_for_archive(Log& log) {
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (log.statistics().archive_backlog != 0) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("finished segments are archived by a command and come back by another", "[log]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  // A name that a careless shell command would split.
  const auto archive = directory.path() / "the archive's 100%";
  const auto log_directory = directory.path() / "log with blanks";
  std::filesystem::create_directory(archive);
  std::filesystem::create_directory(log_directory);
  const std::string place = "\"" + directory.path().native() + "/the archive's 100%%/\"";
  LogOptions options = small_options(log_directory);
  options.spare_segments = 0;
  options.archive = archive_by_command("cp %p " + place + "%f");
  std::vector<Written> written;
  Lsn first = Lsn::none;
  {
    auto log = Log::create(files, options).value();
    first = log->begin();
    Random random{3};
    for (int round = 0; round < 4; ++round) {
      const auto some = fill(*log, random, 500);
      written.insert(written.end(), some.begin(), some.end());
      log->keep_from(some.front().lsn);
    }
    wait_for_archive(*log);
    log->close();
    REQUIRE(log->statistics().first_segment > 4);
  }
  // All segments of the archive, but only the last ones of the directory.
  options.archive = {};
  options.restore = restore_by_command("cp " + place + "%f %p 2>/dev/null");
  auto log = Log::open(files, options, first).value();
  REQUIRE(same(read_forward(log->reader(), first), written));
}

TEST_CASE("a log restored from its archive alone ends with the last archived segment", "[log]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  const auto archive = directory.path() / "archive";
  const auto log_directory = directory.path() / "log";
  std::filesystem::create_directory(archive);
  std::filesystem::create_directory(log_directory);
  LogOptions options = small_options(log_directory);
  options.archive = archive_by_command("cp %p " + archive.native() + "/%f");
  Lsn first = Lsn::none;
  std::vector<Written> written;
  {
    auto log = Log::create(files, options).value();
    first = log->begin();
    Random random{4};
    written = fill(*log, random, 2000);
    wait_for_archive(*log);
    log->close();
  }
  std::filesystem::remove_all(log_directory);
  std::filesystem::create_directory(log_directory);
  options.archive = {};
  options.restore = restore_by_command("cp " + archive.native() + "/%f %p 2>/dev/null");
  auto log = Log::open(files, options, first).value();
  std::erase_if(written, [&](const Written& one) { return one.lsn >= log->begin(); });
  REQUIRE(written.size() > 1000);
  REQUIRE(same(read_forward(log->reader(), first), written));
  // And it goes on.
  Random random{5};
  const auto more = fill(*log, random, 100);
  written.insert(written.end(), more.begin(), more.end());
  REQUIRE(same(read_forward(log->reader(), first), written));
}

TEST_CASE("an archive that gives something else is refused", "[log]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  LogOptions options = small_options(directory.path());
  {
    auto log = Log::create(files, options).value();
    Random random{4};
    fill(*log, random, 100);
    log->close();
  }
  options.restore = restore_by_command("head -c 69632 /dev/zero > %p");
  REQUIRE(Log::open(files, options, Lsn{65536}).error().state() == sqlstate::data_corrupted);
  options.restore = restore_by_command("kill -9 $$");
  REQUIRE(Log::open(files, options, Lsn{65536}).error().state() == sqlstate::io_error);
}

TEST_CASE("a failing archive delays recycling, then growth, and loses nothing", "[log]") {
  spdlog::set_level(spdlog::level::off);
  SimulatedDisk disk{9};
  REQUIRE(disk.create_directory("/log"));
  Simulation simulation{9};
  simulation.run([&] {
    LogOptions options = small_options("/log");
    std::vector<std::string> archived;
    bool broken = true;
    options.archive = [&](const std::filesystem::path& path, const std::string& name) -> Result<> {
      Runtime::current().sleep_until(Runtime::current().now() + 5ms);
      if (broken) return fail(sqlstate::io_error, "no route to the archive");
      // The archived file is the finished segment of that name.
      const auto bytes = disk.contents(path);
      const auto number =
          decode_segment_header(Bytes{bytes}.first<kSegmentHeaderBytes>(), name).value().number;
      REQUIRE(segment_name(number) == name);
      archived.push_back(name);
      return {};
    };
    options.archive_backlog_segments = 4;
    auto log = Log::create(disk, options).value();
    Random random{9};
    std::vector<Written> written;
    std::optional<Error> refused;
    while (!refused) {
      const std::string payload = random_payload(random, 400);
      auto space = log->reserve(payload.size());
      if (!space) {
        refused.emplace(std::move(space).error());
        break;
      }
      const auto [lsn, end] = log->append(*space, {.kind = kUpdate}, as_bytes(payload));
      space = Reservation{};
      written.push_back({lsn, end, {.kind = kUpdate}, payload});
      if (random() % 10 == 0) {
        log->flush_to(end);
        log->keep_from(lsn);
      }
    }
    REQUIRE(refused->state() == sqlstate::disk_full);
    REQUIRE_THAT(refused->message(), Catch::Contains("archived"));
    REQUIRE(log->statistics().first_segment == kFirstSegment);
    const ArchiveStatistics failures = log->statistics().archive;
    REQUIRE(failures.archived == 0);
    REQUIRE(failures.failed > 0);
    REQUIRE(failures.last_failed == segment_name(kFirstSegment));
    REQUIRE(log->statistics().waits_for_room > 0);

    broken = false;
    Runtime::current().sleep_until(Runtime::current().now() + 5s);
    for (int i = 0; i < 1000; ++i) {
      written.push_back(append_random(*log, random, 400));
      if (i % 100 == 99) log->flush_to(written.back().end);
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
    }
    log->close();
    REQUIRE(log->statistics().first_segment > kFirstSegment);
    // Each once, in order.
    for (std::size_t i = 0; i < archived.size(); ++i) {
      REQUIRE(archived[i] == segment_name(kFirstSegment + i));
    }
    REQUIRE(archived.size() > 6);
    REQUIRE(log->statistics().archive.archived == archived.size());
    REQUIRE(log->statistics().archive.last_archived == archived.back());
  });
  spdlog::set_level(spdlog::level::info);
}
