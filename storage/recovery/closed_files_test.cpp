// Damages or removes every file of a cleanly closed database, and every page. The database starts
// with all rows except those of the page, or the error tells what is lost and how to continue.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <utility>

#include "storage/logical/logical_log.h"
#include "storage/page/page.h"
#include "storage/recovery/killed_database.h"
#include "storage/recovery/new_log.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;
using test::Killed;

constexpr int kClosedRows = 500;

/// A database with two trees, a slot, and both copies of everything in use.
struct Closed : Killed {
  Closed() : Killed(kClosedRows, kClosedRows / 2) {
    const auto engine = open().value();
    const auto transaction = engine->begin();
    other = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    std::swap(tree, other);
    add(*engine, 0, kClosedRows, kClosedRows / 2);
    std::swap(tree, other);
    REQUIRE(engine->logical_log().slots().reserve(slot(), 4));
    REQUIRE(engine->logical_log().slots().complete("s", Lsn{engine->statistics().log_durable}));
    REQUIRE(engine->close());
    disk.sync_everything();
  }
  static Slot slot() {
    Slot made;
    made.name = "s";
    made.restart = Lsn::max;
    return made;
  }
  [[nodiscard]] std::vector<std::filesystem::path> all_files() {
    std::vector<std::filesystem::path> found;
    const std::vector<std::string> names = disk.list(kHome).value();
    for (const std::string& name : names)
      if (name != "log") found.push_back(kHome / name);
    for (const std::string& name : log_files()) found.push_back(kHome / "log" / name);
    return found;
  }
  TreeId other{};
};

struct Outcome {
  bool has_started = false;
  int lost_rows = 0;
  int trees_with_losses = 0;
  std::string why = {};
  std::string hint = {};
};

/// Returns the number of rows that are lost. Each other row must be unchanged, and a lost one must
/// be XX001.
int lost_rows_of(Engine& engine, TreeId id) {
  auto tree = engine.tree(id);
  if (!tree) {
    REQUIRE(tree.error().state() == sqlstate::data_corrupted);
    return kClosedRows;
  }
  const auto reader = engine.begin();
  ValueBuffer value;
  int lost = 0;
  for (int row = 0; row < kClosedRows; ++row) {
    const auto found = tree->get(*reader, as_bytes(std::to_string(row)), value);
    if (!found) {
      REQUIRE(found.error().state() == sqlstate::data_corrupted);
      ++lost;
      continue;
    }
    REQUIRE(*found);
    REQUIRE(as_text(value.bytes()) == std::string(700, 'v'));
  }
  return lost;
}

Outcome judge(const Closed& of, SimulatedDisk& disk) {
  Outcome outcome;
  for (int start = 0; start < 2; ++start) {
    auto engine = Engine::open(disk, kHome, test::small_pool_options());
    if (!engine) {
      // The second start fails in the same way as the first: nothing has become worse.
      CAPTURE(engine.error().message());
      REQUIRE((start == 0 || !outcome.has_started));
      outcome.why = engine.error().message();
      outcome.hint = engine.error().hint();
      continue;
    }
    outcome.has_started = true;
    int lost = 0;
    int trees = 0;
    for (const TreeId tree : {of.tree, of.other}) {
      const int of_tree = lost_rows_of(**engine, tree);
      lost += of_tree;
      trees += of_tree > 0 ? 1 : 0;
    }
    outcome.lost_rows = std::max(outcome.lost_rows, lost);
    outcome.trees_with_losses = std::max(outcome.trees_with_losses, trees);
    // The database can be written, and closed cleanly.
    const auto transaction = (*engine)->begin();
    REQUIRE((*engine)->create_tree(*transaction));
    REQUIRE(transaction->commit());
    REQUIRE((*engine)->close());
  }
  return outcome;
}

enum class Harm : std::uint8_t { missing, empty, half, flipped_first, flipped_middle, zeroed };
constexpr std::array kHarms{Harm::missing,       Harm::empty,          Harm::half,
                            Harm::flipped_first, Harm::flipped_middle, Harm::zeroed};

void flip(SimulatedDisk& disk, const std::filesystem::path& file, std::uint64_t at) {
  const auto bytes = disk.contents(file);
  const std::array<std::byte, 1> flipped{bytes.at(at) ^ std::byte{1}};
  disk.corrupt(file, at, flipped);
}

void do_harm(SimulatedDisk& disk, const std::filesystem::path& file, Harm harm) {
  const std::size_t size = disk.contents(file).size();
  switch (harm) {
    case Harm::missing:
      REQUIRE(disk.remove(file));
      break;
    case Harm::empty:
      REQUIRE(disk.open(file, OpenMode::read_write, {}).value()->truncate(0));
      break;
    case Harm::half:
      REQUIRE(disk.open(file, OpenMode::read_write, {}).value()->truncate(size / 2 / 4096 * 4096));
      break;
    case Harm::flipped_first:
      if (size > 0) flip(disk, file, 20);
      break;
    case Harm::flipped_middle:
      if (size > 0) flip(disk, file, std::min<std::size_t>(size / 2, 4096 + 16));
      break;
    case Harm::zeroed:
      disk.corrupt(file, 0, std::vector<std::byte>(size));
      break;
  }
}

}  // namespace

TEST_CASE("R11 one file of a closed database that is damaged or missing", "[recovery][bad-input]") {
  Closed closed;
  const auto files = closed.all_files();
  REQUIRE(files.size() >= 9);
  for (const auto& file : files) {
    for (const Harm harm : kHarms) {
      CAPTURE(file, static_cast<int>(harm));
      const auto disk = closed.disk.copy(1);
      do_harm(*disk, file, harm);
      const Outcome outcome = judge(closed, *disk);
      CAPTURE(outcome.why, outcome.hint, outcome.lost_rows);
      const bool has_rows = file.filename() == Volume::kFileName;
      const bool is_log = file.parent_path().filename() == "log";
      if (!has_rows && !is_log) CHECK(outcome.has_started);
      if (outcome.has_started) {
        CHECK((has_rows || outcome.lost_rows == 0));
        continue;
      }
      CHECK((outcome.why.find(file.native()) != std::string::npos ||
             outcome.why.find("LSN") != std::string::npos));
      CHECK(!outcome.hint.empty());
      // Continue as the hint says.
      if (is_log) {
        CHECK_THAT(outcome.hint, Contains("new-log"));
        REQUIRE(replace_lost_log(*disk, kHome, "log"));
      } else if (harm == Harm::half) {
        CHECK_THAT(outcome.hint, Contains(fmt::format("truncate -s ")));
        REQUIRE(disk->open(file, OpenMode::read_write, {})
                    .value()
                    ->truncate(std::stoull(outcome.hint.substr(outcome.hint.find("-s ") + 3))));
      } else {
        continue;
      }
      const Outcome after = judge(closed, *disk);
      INFO(after.why);
      CHECK(after.has_started);
      CHECK((has_rows || after.lost_rows == 0));
    }
  }
}

TEST_CASE("R9 each page of a closed database that is damaged costs its own rows",
          "[recovery][bad-input]") {
  Closed closed;
  // Make sure that nothing can rebuild the page: neither the last batches of writes nor the log.
  {
    const auto engine = closed.open().value();
    for (int i = 0; i < 4; ++i) {
      const auto transaction = engine->begin();
      const TreeId filler = engine->create_tree(*transaction).value();
      REQUIRE(transaction->commit());
      // add() fills `tree`.
      const TreeId rows = std::exchange(closed.tree, filler);
      closed.add(*engine, 0, 600, -1);
      closed.tree = rows;
      REQUIRE(engine->checkpoint());
    }
    REQUIRE(engine->close());
    closed.disk.sync_everything();
  }
  const auto data = kHome / Volume::kFileName;
  const auto bytes = closed.disk.contents(data);
  std::map<std::string, int> met;
  for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
    const auto header = load<PageHeader>(bytes.data() + page * kPageBytes);
    if (!check_page(bytes.data() + page * kPageBytes, PageId{page})) continue;
    // A few of the filler's pages suffice.
    const bool is_filler =
        header.tree != closed.tree && header.tree != closed.other && raw(header.tree) > 1;
    if (is_filler && page % 16 != 0) continue;
    CAPTURE(page, raw(header.tree), static_cast<int>(header.level));
    const auto disk = closed.disk.copy(1);
    flip(*disk, data, page * kPageBytes + kPageBytes / 2);
    // There must be no other copy of the page either.
    const auto copies = disk->contents(kHome / DoubleWrite::kFileName);
    for (std::size_t at = 0; at + kPageBytes <= copies.size(); at += kPageBytes)
      if (raw(load<PageHeader>(copies.data() + at).id) == page)
        flip(*disk, kHome / DoubleWrite::kFileName, at + kPageBytes / 2);
    const Outcome outcome = judge(closed, *disk);
    CAPTURE(outcome.why, outcome.hint, outcome.lost_rows);
    if (header.tree == TreeId::directory) {
      // Without the tree of trees it is unknown where a tree begins.
      if (!outcome.has_started) {
        CHECK_THAT(outcome.why, Contains(fmt::format("page {} ", page)));
        CHECK(!outcome.hint.empty());
      }
      ++met["directory"];
      continue;
    }
    CHECK(outcome.has_started);
    const bool has_rows = header.tree == closed.tree || header.tree == closed.other;
    CHECK((has_rows || outcome.lost_rows == 0));
    CHECK(outcome.trees_with_losses <= 1);
    if (header.level == 0) CHECK(outcome.lost_rows < 20);
    ++met[has_rows && outcome.lost_rows > 0 ? "lost" : "whole"];
  }
  CHECK(met["lost"] > 50);
  CHECK(met["directory"] > 0);
}

TEST_CASE("R1 a shrunk file does not keep the older checkpoint from leading to all rows",
          "[recovery][bad-input]") {
  Closed closed;
  {
    const auto engine = closed.open().value();
    const auto transaction = engine->begin();
    const TreeId large = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    const TreeId kept = std::exchange(closed.tree, large);
    closed.add(*engine, 0, 3000, -1);
    closed.tree = kept;
    REQUIRE(engine->checkpoint());
    const auto dropping = engine->begin();
    REQUIRE(engine->drop_tree(*dropping, large));
    REQUIRE(dropping->commit());
    REQUIRE(engine->shrink().value() > 100);
    // Leave the database as if the process had been killed here.
  }
  const std::size_t younger = [&] {
    const auto one = closed.disk.contents(kHome / ControlFile::kFileNames[0]);
    const auto two = closed.disk.contents(kHome / ControlFile::kFileNames[1]);
    constexpr std::size_t kGenerationAt = 24;
    return load<std::uint64_t>(one.data() + kGenerationAt) >
                   load<std::uint64_t>(two.data() + kGenerationAt)
               ? std::size_t{0}
               : std::size_t{1};
  }();
  const bool is_lost = GENERATE(false, true);
  if (is_lost) REQUIRE(closed.disk.remove(kHome / ControlFile::kFileNames[younger]));
  const Outcome outcome = judge(closed, closed.disk);
  INFO(outcome.why);
  CHECK(outcome.has_started);
  CHECK(outcome.lost_rows == 0);
}
