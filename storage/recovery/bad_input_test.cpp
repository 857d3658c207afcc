// Restart with files that were changed since the stop: they are recovered if that is safe, and
// otherwise refused with an error that names the missing part and its LSN.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "base/simulation/simulated_disk.h"
#include "storage/engine.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/killed_database.h"
#include "storage/space/volume.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;
using test::Killed;
using test::kSegmentBytes;

void require_refused(Killed& killed, const std::string& about) {
  const auto opened = killed.open();
  REQUIRE_FALSE(opened);
  CAPTURE(opened.error().message());
  REQUIRE((opened.error().state() == sqlstate::data_corrupted ||
           opened.error().state() == sqlstate::undefined_file));
  REQUIRE_THAT(opened.error().message(), Contains(about));
}

void lose_control(Killed& killed) {
  for (const char* name : ControlFile::kFileNames) REQUIRE(killed.disk.remove(kHome / name));
}

}  // namespace

TEST_CASE("a control file that is lost once is read from its other copy", "[recovery][bad-input]") {
  const std::size_t lost = GENERATE(0U, 1U);
  Killed killed(900, 300);
  REQUIRE(killed.disk.remove(kHome / ControlFile::kFileNames[lost]));
  const auto engine = killed.open().value();
  REQUIRE(killed.rows(*engine) == 900);
  REQUIRE(engine->close());
}

TEST_CASE("a control file that is lost twice is made anew from a log that is whole",
          "[recovery][bad-input]") {
  Killed killed(500);
  REQUIRE(killed.segments().size() > 1);
  const bool damaged = GENERATE(true, false);
  if (damaged) {
    const std::byte wrong{0x77};
    for (const char* name : ControlFile::kFileNames)
      killed.disk.corrupt(kHome / name, 70, {&wrong, 1});
  } else {
    lose_control(killed);
  }
  {
    const auto engine = killed.open().value();
    REQUIRE(killed.rows(*engine) == 500);
    killed.add(*engine, 500, 600, -1);
  }
  const auto engine = killed.open().value();
  REQUIRE(killed.rows(*engine) == 600);
  REQUIRE(engine->close());
}

TEST_CASE("a control file that is lost twice is refused when the log begins too late",
          "[recovery][bad-input]") {
  Killed killed(3000, 1500);
  {
    const auto engine = killed.open().value();
    REQUIRE(engine->checkpoint());
    REQUIRE(engine->close());
  }
  // Remove the segment, as recycling would have done.
  REQUIRE(killed.disk.remove(kHome / "log" / killed.segments().front()));
  lose_control(killed);
  require_refused(killed, "the log is needed from LSN " + std::to_string(kSegmentBytes));
}

TEST_CASE("an engine that was never finished has no control file, and stays closed",
          "[recovery][bad-input]") {
  Killed killed(0);
  REQUIRE(killed.disk.create_directory("/empty"));
  REQUIRE(Engine::create(killed.disk, "/empty", test::small_pool_options()));
  for (const char* name : ControlFile::kFileNames)
    REQUIRE(killed.disk.remove(std::filesystem::path{"/empty"} / name));
  const auto opened = Engine::open(killed.disk, "/empty", test::small_pool_options());
  REQUIRE(opened.error().state() == sqlstate::data_corrupted);
}

TEST_CASE("a torn tail is dropped, and what was acknowledged before it is there",
          "[recovery][bad-input]") {
  Killed killed(400);
  // Overwrite the middle of the last record, as an interrupted write would.
  const std::byte wrong{0x11};
  const std::uint64_t at = raw(killed.end) - 30;
  killed.disk.corrupt(killed.segment_of(Lsn{at}), at % kSegmentBytes + 4096, {&wrong, 1});
  const auto engine = killed.open().value();
  // The torn part had the last commit, or only the mark after it.
  const int rows = killed.rows(*engine);
  REQUIRE(rows >= 399);
  REQUIRE(engine->close());
}

TEST_CASE("a truncated last segment ends the log where it is cut", "[recovery][bad-input]") {
  Killed killed(400);
  auto file = killed.disk.open(killed.segment_of(killed.end), OpenMode::read_write, {}).value();
  REQUIRE(file->truncate((raw(killed.end) - 2000) % kSegmentBytes / 4096 * 4096 + 4096));
  file.reset();
  const auto engine = killed.open().value();
  const int rows = killed.rows(*engine);
  REQUIRE(rows < 400);
  REQUIRE(rows >= 385);
  REQUIRE(engine->close());
}

TEST_CASE("segments in the middle that are missing, zeroed, cut or foreign are refused",
          "[recovery][bad-input]") {
  Killed killed(1500);
  const auto segments = killed.segments();
  REQUIRE(segments.size() >= 4);
  const auto victim = kHome / "log" / segments[2];
  const std::uint64_t first = std::stoull(segments[2], nullptr, 16) * kSegmentBytes;
  const std::vector<std::byte> zeros(kSegmentBytes + 4096);
  SECTION("missing") {
    REQUIRE(killed.disk.remove(victim));
    require_refused(killed, std::to_string(first));
  }
  SECTION("zeroed") {
    killed.disk.corrupt(victim, 0, zeros);
    require_refused(killed, segments[2]);
  }
  SECTION("zeroed behind its header") {
    killed.disk.corrupt(victim, 4096, Bytes{zeros}.first(kSegmentBytes));
    require_refused(killed, "the log is damaged at LSN");
  }
  SECTION("cut") {
    REQUIRE(killed.disk.open(victim, OpenMode::read_write, {}).value()->truncate(100'000));
    require_refused(killed, "the log is damaged at LSN");
  }
  SECTION("foreign") {
    const Killed other(1500);
    const auto bytes = other.disk.contents(victim);
    killed.disk.corrupt(victim, 0, bytes);
    require_refused(killed, "belongs to another database");
  }
  SECTION("another segment of the same log") {
    killed.copy_file(kHome / "log" / segments[1], victim);
    require_refused(killed, "holds segment");
  }
}

TEST_CASE("newest segments that are missing are noticed by the checkpoint, or by a page",
          "[recovery][bad-input]") {
  Killed killed(1500, 1400);
  const Lsn begin = killed.control().checkpoint.begin;
  const auto segments = killed.segments();
  const bool before_checkpoint = GENERATE(true, false);
  if (before_checkpoint) {
    for (const std::string& name : segments)
      if (std::stoull(name, nullptr, 16) >= raw(begin) / kSegmentBytes)
        REQUIRE(killed.disk.remove(kHome / "log" / name));
    require_refused(killed, "the log is needed from LSN");
    return;
  }
  // The segment is an older copy, which is empty from the checkpoint's record on.
  const std::uint64_t at = raw(begin) % kSegmentBytes;
  const std::vector<std::byte> zeros(kSegmentBytes - at);
  killed.disk.corrupt(killed.segment_of(begin), at + 4096, zeros);
  for (const std::string& name : segments)
    if (std::stoull(name, nullptr, 16) > raw(begin) / kSegmentBytes)
      REQUIRE(killed.disk.remove(kHome / "log" / name));
  require_refused(killed, "the log ends at LSN");
}

TEST_CASE("data that is newer than the log is refused with the page", "[recovery][bad-input]") {
  Killed killed(800, 400);
  REQUIRE(killed.open().value()->close());
  // Put the old log and control file back, beside the later pages.
  std::map<std::string, std::vector<std::byte>> log;
  for (const std::string& name : killed.log_files())
    log[name] = killed.disk.contents(std::filesystem::path{"/database/log"} / name);
  std::map<std::string, std::vector<std::byte>> control;
  for (const char* name : {"control-0", "control-1", "space-0", "space-1"})
    control[name] = killed.disk.contents(kHome / name);
  {
    const auto engine = killed.open().value();
    killed.add(*engine, 800, 1000, -1);
    REQUIRE(engine->close());
  }
  for (const std::string& name : killed.log_files())
    REQUIRE(killed.disk.remove(std::filesystem::path{"/database/log"} / name));
  const auto put_back = [&](const std::filesystem::path& path,
                            const std::vector<std::byte>& bytes) {
    auto file = killed.disk.open(path, OpenMode::open_or_create, {}).value();
    REQUIRE(file->truncate(bytes.size()));
    if (!bytes.empty()) REQUIRE(file->write_at(0, bytes));
  };
  for (const auto& [name, bytes] : log)
    put_back(std::filesystem::path{"/database/log"} / name, bytes);
  for (const auto& [name, bytes] : control) put_back(kHome / name, bytes);
  const auto opened = killed.open();
  if (!opened) {
    REQUIRE_THAT(opened.error().message(), Contains("but the log ends at"));
    return;
  }
  // Redo did not need the page, so only reading it finds the damage.
  const auto reader = (*opened)->begin();
  Cursor cursor = (*opened)->tree(killed.tree).value().scan(*reader, {}).value();
  Result<bool> next{true};
  while (next && *next) next = cursor.next();
  REQUIRE_FALSE(next);
  REQUIRE_THAT(next.error().message(), Contains("but the log ends at"));
}

TEST_CASE("a log that is newer than the data is refused with the record and the page",
          "[recovery][bad-input]") {
  Killed killed(800, 100);
  const auto old_data = killed.disk.contents("/database/data");
  {
    const auto engine = killed.open().value();
    killed.add(*engine, 800, 900, -1);
    REQUIRE(engine->close());
  }
  {
    // Since the last close the log has records that need the pages as they were then.
    const auto engine = killed.open().value();
    killed.add(*engine, 900, 950, -1);
  }
  killed.disk.corrupt("/database/data", 0, old_data);
  const auto opened = killed.open();
  if (opened) {
    // A log that has not been shortened yet still has everything that the pages lack. If redo did
    // not need a page, only reading it finds the damage.
    const auto reader = (*opened)->begin();
    Cursor cursor = (*opened)->tree(killed.tree).value().scan(*reader, {}).value();
    Result<bool> next = cursor.next();
    while (next && *next) next = cursor.next();
    if (next) {
      REQUIRE(killed.rows(**opened) == 950);
    } else {
      REQUIRE(next.error().state() == sqlstate::data_corrupted);
    }
    return;
  }
  REQUIRE(opened.error().state() == sqlstate::data_corrupted);
  REQUIRE_THAT(opened.error().message(), Contains("it comes after") || Contains("truncated") ||
                                             Contains("is damaged") ||
                                             Contains("fails its checksum"));
}

// One session fills the disk, then rolls back, reads, and continues when there is room again.
TEST_CASE("a full log disk: 53100 before anything changes, readers go on, then service resumes",
          "[recovery][bad-input]") {
  Killed killed(50);
  auto engine = killed.open().value();
  killed.disk.leave_room(std::uint64_t{1} << 20U);
  Tree tree = engine->tree(killed.tree).value();
  int row = 50;
  Result<bool> last{true};
  auto writer = engine->begin();
  for (; last && row < 20'000; ++row) {
    last = tree.insert(*writer, as_bytes(std::to_string(row)), as_bytes(std::string(700, 'v')));
    if (!last) break;
    if (row % 10 == 0) {
      REQUIRE(writer->commit());
      writer = engine->begin();
    }
  }
  REQUIRE_FALSE(last);
  REQUIRE(last.error().state() == sqlstate::disk_full);
  ValueBuffer value;
  REQUIRE_FALSE(tree.get(*writer, as_bytes(std::to_string(row)), value).value());
  REQUIRE(tree.get(*writer, as_bytes(std::to_string(row - 1)), value).value());
  const bool commits = GENERATE(true, false);
  if (commits) {
    REQUIRE(writer->commit());
  } else {
    writer->rollback();
  }
  const int expected = commits ? row : (row - 1) / 10 * 10 + 1;
  REQUIRE(killed.rows(*engine) == expected);
  killed.disk.limit_capacity(UINT64_MAX);
  // The segment keeper tries again within half a second.
  bool resumed = false;
  for (int i = 0; i < 200 && !resumed; ++i) {
    const auto again = engine->begin();
    resumed = tree.insert(*again, as_bytes("again"), as_bytes("v")).has_value();
    if (resumed) REQUIRE(again->commit());
    if (!resumed) {
      again->rollback();
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    }
  }
  REQUIRE(resumed);
  writer.reset();
  REQUIRE(killed.rows(*engine) == expected + 1);
  REQUIRE(engine->close());
}

TEST_CASE("recovery tells how far it is", "[recovery]") {
  Killed killed(1200, 200);
  EngineOptions options = test::small_pool_options();
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::main_memory);
  std::vector<RecoveryProgress> seen;
  const auto engine = Engine::open(killed.disk, kHome, options, [&](const RecoveryProgress& at) {
                        seen.push_back(at);
                      }).value();
  std::map<std::string, int> phases;
  for (const RecoveryProgress& at : seen) {
    ++phases[at.phase];
    REQUIRE(at.done <= at.total);
  }
  REQUIRE(phases["analysis"] >= 2);
  const auto end_of = [&](const std::string& phase) {
    return *std::find_if(seen.rbegin(), seen.rend(),
                         [&](const RecoveryProgress& at) { return at.phase == phase; });
  };
  REQUIRE(end_of("analysis").pages > 10);
  REQUIRE(end_of("analysis").position > Lsn{kSegmentBytes});
  REQUIRE(end_of("analysis").seconds_left == 0.0);
  // In the other pool modes a page is redone when it is read.
  REQUIRE(phases.contains("redo") == (options.pool_mode == PoolMode::main_memory));
  if (phases.contains("redo")) REQUIRE(end_of("redo").done == end_of("analysis").pages);
  REQUIRE(engine->close());
}
