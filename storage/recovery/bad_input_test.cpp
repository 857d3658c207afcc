// What restart does with files that are not as it left them: recovered where that is safe,
// otherwise refused with what is missing and from which LSN on.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "base/simulation/simulated_disk.h"
#include "storage/engine.h"
#include "storage/page/page.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Matchers::Contains;

namespace {

using test::kHome;
constexpr std::uint64_t kSegmentBytes = std::uint64_t{256} << 10U;

EngineOptions bad_input_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{4} << 20U;
  options.log_segment_bytes = kSegmentBytes;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  return options;
}

/// A database with `rows` committed rows that was killed.
struct Killed {
  explicit Killed(int rows, int checkpoint_at = -1) {
    REQUIRE(Engine::create(disk, kHome, bad_input_options()));
    const auto engine = Engine::open(disk, kHome, bad_input_options()).value();
    auto first = engine->begin();
    tree = engine->create_tree(*first).value();
    REQUIRE(first->commit());
    add(*engine, 0, rows, checkpoint_at);
    end = Lsn{engine->statistics().log_durable};
  }
  void add(Engine& engine, int from, int to, int checkpoint_at) {
    for (int row = from; row < to; ++row) {
      const auto transaction = engine.begin();
      REQUIRE(
          engine.tree(tree)
              .value()
              .insert(*transaction, as_bytes(std::to_string(row)), as_bytes(std::string(700, 'v')))
              .value());
      REQUIRE(transaction->commit());
      if (row == checkpoint_at) REQUIRE(engine.checkpoint());
    }
  }
  [[nodiscard]] std::vector<std::string> log_files() { return disk.list("/database/log").value(); }
  [[nodiscard]] std::vector<std::string> segments() {
    std::vector<std::string> found;
    for (const std::string& name : log_files())
      if (name.ends_with(".log")) found.push_back(name);
    return found;
  }
  /// The segment that holds `lsn`.
  [[nodiscard]] std::filesystem::path segment_of(Lsn lsn) {
    return kHome / "log" / fmt::format("{:016x}.log", raw(lsn) / kSegmentBytes);
  }
  Result<std::unique_ptr<Engine>> open() { return Engine::open(disk, kHome, bad_input_options()); }
  int rows(Engine& engine) {
    const auto reader = engine.begin();
    Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    REQUIRE(engine.verify().value().empty());
    return count;
  }
  Control control() { return ControlFile::open(disk, kHome).value()->current(); }
  void copy_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    const auto bytes = disk.contents(from);
    auto target = disk.open(to, OpenMode::open_or_create, {}).value();
    REQUIRE(target->truncate(bytes.size()));
    if (!bytes.empty()) REQUIRE(target->write_at(0, bytes));
  }

  SimulatedDisk disk;
  TreeId tree{};
  Lsn end{};
};

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
  // What recycling would have removed.
  REQUIRE(killed.disk.remove(kHome / "log" / killed.segments().front()));
  lose_control(killed);
  require_refused(killed, "the log is needed from LSN " + std::to_string(kSegmentBytes));
}

TEST_CASE("an engine that was never finished has no control file, and stays closed",
          "[recovery][bad-input]") {
  Killed killed(0);
  REQUIRE(killed.disk.create_directory("/empty"));
  REQUIRE(Engine::create(killed.disk, "/empty", bad_input_options()));
  for (const char* name : ControlFile::kFileNames)
    REQUIRE(killed.disk.remove(std::filesystem::path{"/empty"} / name));
  const auto opened = Engine::open(killed.disk, "/empty", bad_input_options());
  REQUIRE(opened.error().state() == sqlstate::data_corrupted);
}

TEST_CASE("a torn tail is dropped, and what was acknowledged before it is there",
          "[recovery][bad-input]") {
  Killed killed(400);
  // The last record's middle, as a write that the power interrupted leaves it.
  const std::byte wrong{0x11};
  const std::uint64_t at = raw(killed.end) - 30;
  killed.disk.corrupt(killed.segment_of(Lsn{at}), at % kSegmentBytes + 4096, {&wrong, 1});
  const auto engine = killed.open().value();
  // The last commit, or only the mark behind it, was in what is torn.
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
  // The segment is there, but empty from the checkpoint's record on: an older copy.
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
  // The log and the control file as they were, the pages as they are later.
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
  // Redo had no reason to look at the page: whoever reads it finds out.
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
    // Since the last close the log has records that need the pages as they were at the close.
    const auto engine = killed.open().value();
    killed.add(*engine, 900, 950, -1);
  }
  killed.disk.corrupt("/database/data", 0, old_data);
  const auto opened = killed.open();
  if (opened) {
    // A log that nobody has had the time to shorten still has all that the pages lack. Where redo
    // had no reason to look at a page, whoever reads it finds out.
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

// One fills the disk, then rolls back, reads, and goes on when there is room again.
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
  // The next try of the segment keeper is half a second away at most.
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

namespace {

/// Two trees of many pages, stopped in good order; nothing in log or double-write area helps with
/// the first one's pages any more.
struct TwoTrees : Killed {
  TwoTrees() : Killed(600) {
    disk.sync_everything();
    const auto engine = open().value();
    const auto transaction = engine->begin();
    other = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    const TreeId damaged = std::exchange(tree, other);
    for (int round = 0; round < 6; ++round) {
      add(*engine, 400 * round, 400 * (round + 1), -1);
      REQUIRE(engine->checkpoint());
    }
    tree = damaged;
    REQUIRE(engine->close());
  }
  /// The pages of the first tree at a level, as they lie in the data file.
  [[nodiscard]] std::vector<std::uint64_t> pages_at(std::uint8_t level) {
    std::vector<std::uint64_t> pages;
    const auto bytes = disk.contents(kHome / Volume::kFileName);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const auto header = load<PageHeader>(bytes.data() + page * kPageBytes);
      if (header.tree == tree && header.level == level &&
          check_page(bytes.data() + page * kPageBytes, PageId{page}))
        pages.push_back(page);
    }
    return pages;
  }
  void flip_in(std::uint64_t page) {
    const std::uint64_t at = page * kPageBytes + kPageBytes / 2;
    const auto bytes = disk.contents(kHome / Volume::kFileName);
    const std::array<std::byte, 1> flipped{bytes[at] ^ std::byte{1}};
    disk.corrupt(kHome / Volume::kFileName, at, flipped);
  }
  /// Nor is there another copy of it, from the last writes.
  void flip_copies_of(std::uint64_t page) {
    const auto bytes = disk.contents(kHome / DoubleWrite::kFileName);
    for (std::size_t at = 0; at + kPageBytes <= bytes.size(); at += kPageBytes) {
      if (raw(load<PageHeader>(bytes.data() + at).id) != page) continue;
      const std::array<std::byte, 1> flipped{bytes[at + kPageBytes / 2] ^ std::byte{1}};
      disk.corrupt(kHome / DoubleWrite::kFileName, at + kPageBytes / 2, flipped);
    }
  }
  TreeId other{};
};

}  // namespace

TEST_CASE("a damaged page does not keep its dropped tree's database from starting",
          "[recovery][bad-input]") {
  // A leaf has nothing below it; a branch and the root do.
  const std::uint8_t level = GENERATE(std::uint8_t{0}, std::uint8_t{1});
  const bool all = GENERATE(false, true);
  TwoTrees database;
  const std::vector<std::uint64_t> pages = database.pages_at(level);
  REQUIRE(!pages.empty());
  for (std::size_t i = 0; i < (all ? pages.size() : 1); ++i) database.flip_in(pages[i]);
  {
    const auto engine = database.open().value();
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, database.tree));
    REQUIRE(transaction->commit());
    REQUIRE(engine->close());
  }
  for (int start = 0; start < 2; ++start) {
    auto engine = database.open();
    INFO((engine ? "" : engine.error().message()));
    REQUIRE(engine);
    const auto reader = (*engine)->begin();
    Cursor cursor = (*engine)->tree(database.other).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    CHECK(count == 2400);
    REQUIRE((*engine)->shrink());
    // Pages of damaged leaves are free; what lay below a damaged branch is reported.
    const auto violations = (*engine)->verify().value();
    CHECK(violations.empty() == (level == 0));
    for (const std::string& violation : violations)
      CHECK_THAT(violation, Contains("belongs to no tree"));
    REQUIRE((*engine)->close());
  }
}

TEST_CASE("a damaged page that redo wants and nobody has is one table's trouble",
          "[recovery][bad-input]") {
  TwoTrees database;
  {
    const auto engine = database.open().value();
    const auto transaction = engine->begin();
    for (int row = 0; row < 600; ++row)
      REQUIRE(engine->tree(database.tree)
                  .value()
                  .update(*transaction, as_bytes(std::to_string(row)), as_bytes("changed"))
                  .value());
    REQUIRE(transaction->commit());
    // Killed here.
  }
  const std::vector<std::uint64_t> leaves = database.pages_at(0);
  REQUIRE(leaves.size() > 20);
  database.flip_in(leaves[leaves.size() / 2]);
  database.flip_copies_of(leaves[leaves.size() / 2]);
  for (int start = 0; start < 2; ++start) {
    auto engine = database.open();
    INFO((engine ? "" : engine.error().message()));
    REQUIRE(engine);
    const auto reader = (*engine)->begin();
    int changed = 0;
    int refused = 0;
    ValueBuffer value;
    for (int row = 0; row < 600; ++row) {
      const auto found =
          (*engine)->tree(database.tree).value().get(*reader, as_bytes(std::to_string(row)), value);
      if (found) {
        REQUIRE(*found);
        REQUIRE(as_text(value.bytes()) == "changed");
        ++changed;
      } else {
        CHECK(found.error().state() == sqlstate::data_corrupted);
        ++refused;
      }
    }
    CHECK(refused > 0);
    CHECK(refused < 20);
    CHECK(changed + refused == 600);
    Cursor cursor = (*engine)->tree(database.other).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    CHECK(count == 2400);
    const auto violations = (*engine)->verify().value();
    CHECK(violations.size() == 1);
    REQUIRE((*engine)->close());
  }
}

TEST_CASE("recovery tells how far it is", "[recovery]") {
  Killed killed(1200, 200);
  std::vector<RecoveryProgress> seen;
  const auto engine =
      Engine::open(killed.disk, kHome, bad_input_options(), [&](const RecoveryProgress& at) {
        seen.push_back(at);
      }).value();
  std::map<std::string, int> phases;
  for (const RecoveryProgress& at : seen) {
    ++phases[at.phase];
    REQUIRE(at.done <= at.total);
  }
  REQUIRE(phases["analysis"] >= 2);
  REQUIRE(phases["redo"] >= 2);
  const auto end_of = [&](const std::string& phase) {
    return *std::find_if(seen.rbegin(), seen.rend(),
                         [&](const RecoveryProgress& at) { return at.phase == phase; });
  };
  REQUIRE(end_of("analysis").pages > 10);
  REQUIRE(end_of("redo").pages > 10);
  REQUIRE(end_of("redo").position > Lsn{kSegmentBytes});
  REQUIRE(end_of("redo").seconds_left == 0.0);
  REQUIRE(engine->close());
}
