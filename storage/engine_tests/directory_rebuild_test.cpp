// Damage in the tree of trees loses nothing: the directory is rebuilt from the other pages.
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/simulation/simulation.h"
#include "storage/page/page.h"
#include "storage/recovery/killed_database.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"

namespace swizzle {

using namespace test;

namespace {

constexpr int kTrees = 900;
constexpr int kRowsOfLarge = 400;
constexpr int kRounds = 8;

struct ManyTrees : Killed {
  ManyTrees() : Killed(kRowsOfLarge, kRowsOfLarge / 2) {
    const auto engine = open().value();
    const auto transaction = engine->begin();
    for (int i = 0; i < kTrees; ++i) {
      const TreeId id = engine->create_tree(*transaction).value();
      trees.push_back(id);
      REQUIRE(engine->tree(id)
                  .value()
                  .insert(*transaction, as_bytes("key"), as_bytes(std::to_string(raw(id))))
                  .value());
    }
    REQUIRE(transaction->commit());
    // Make sure that neither the double-write area nor the log has the pages that are damaged
    // below.
    for (int i = 0; i < kRounds; ++i) {
      add(*engine, kRowsOfLarge + i * 500, kRowsOfLarge + (i + 1) * 500, -1);
      REQUIRE(engine->checkpoint());
    }
    REQUIRE(engine->close());
    disk.sync_everything();
  }
  /// All pages of the directory.
  [[nodiscard]] std::vector<std::uint64_t> directory_pages() {
    std::vector<std::uint64_t> found;
    const auto bytes = disk.contents(kData);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const std::byte* const at = bytes.data() + page * kPageBytes;
      if (check_page(at, PageId{page}) && load<PageHeader>(at).tree == TreeId::directory)
        found.push_back(page);
    }
    return found;
  }
  /// The one page of a small tree.
  [[nodiscard]] std::uint64_t page_of(TreeId of) {
    const auto bytes = disk.contents(kData);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const std::byte* const at = bytes.data() + page * kPageBytes;
      if (check_page(at, PageId{page}) && load<PageHeader>(at).tree == of) return page;
    }
    return 0;
  }
  static void damage(SimulatedDisk& disk, std::uint64_t page, std::size_t at = kPageBytes / 2) {
    const auto flip = [&](const std::filesystem::path& file, std::uint64_t offset) {
      const std::array<std::byte, 1> flipped{disk.contents(file).at(offset) ^ std::byte{1}};
      disk.corrupt(file, offset, flipped);
    };
    flip(kData, page * kPageBytes + at);
    const auto copies = disk.contents(kHome / DoubleWrite::kFileName);
    for (std::size_t copy = 0; copy + kPageBytes <= copies.size(); copy += kPageBytes)
      if (raw(load<PageHeader>(copies.data() + copy).id) == page)
        flip(kHome / DoubleWrite::kFileName, copy + at);
  }
  /// Checks that every small tree but `lost` has its row, and the large one all its rows.
  void expect_all(Engine& engine, std::optional<TreeId> lost = std::nullopt) {
    const auto reader = engine.begin();
    ValueBuffer value;
    for (const TreeId id : trees) {
      if (id == lost) continue;
      auto small = engine.tree(id);
      REQUIRE(small);
      REQUIRE(small->get(*reader, as_bytes("key"), value).value());
      REQUIRE(as_text(value.bytes()) == std::to_string(raw(id)));
    }
    Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    REQUIRE(count == kRowsOfLarge + kRounds * 500);
  }
  static inline const std::filesystem::path kData = kHome / Volume::kFileName;
  std::vector<TreeId> trees;
};

/// Checks that verify reports only pages of the old directory.
void expect_sound_but_for_unowned(Engine& engine) {
  const std::vector<std::string> violations = engine.verify().value();
  for (const std::string& violation : violations) {
    CAPTURE(violation);
    REQUIRE(violation.starts_with("S1 violated"));
  }
}

}  // namespace

TEST_CASE("T25 a damaged page of the tree of trees costs no tree", "[storage][directory]") {
  ManyTrees database;
  const auto pages = database.directory_pages();
  REQUIRE(pages.size() > 2);
  for (const std::uint64_t page : pages) {
    CAPTURE(page);
    const auto disk = database.disk.copy(1);
    ManyTrees::damage(*disk, page);
    for (int start = 0; start < 2; ++start) {
      auto opened = Engine::open(*disk, kHome, small_pool_options());
      REQUIRE(opened);
      Engine& engine = **opened;
      database.expect_all(engine);
      expect_sound_but_for_unowned(engine);
      // New trees get numbers above the last one.
      const auto transaction = engine.begin();
      const TreeId fresh = engine.create_tree(*transaction).value();
      CHECK(fresh > database.trees.back());
      REQUIRE(engine.drop_tree(*transaction, database.trees[static_cast<std::size_t>(start)]));
      transaction->rollback();
      REQUIRE(engine.close());
    }
  }
}

TEST_CASE("T25 open transactions end as they would in a tree of trees that is made anew",
          "[storage][directory]") {
  ManyTrees database;
  const TreeId of_loser = database.trees[100];
  const TreeId of_prepared = database.trees[500];
  const std::uint64_t root_of_prepared = database.page_of(of_prepared);
  std::unique_ptr<SimulatedDisk> killed;
  {
    const auto engine = database.open().value();
    const auto loser = engine->begin();
    REQUIRE(engine->drop_tree(*loser, of_loser));
    const auto prepared = engine->begin();
    REQUIRE(engine->drop_tree(*prepared, of_prepared));
    REQUIRE(prepared->prepare("p", {}));
    // The process ends here.
    database.disk.sync_everything();
    killed = database.disk.copy(1);
  }
  const bool commits = GENERATE(false, true);
  for (const std::uint64_t page : database.directory_pages()) {
    CAPTURE(page, commits);
    const auto disk = killed->copy(1);
    ManyTrees::damage(*disk, page);
    std::array<std::vector<std::string>, 2> unowned;
    for (int start = 0; start < 2; ++start) {
      CAPTURE(start);
      auto opened = Engine::open(*disk, kHome, small_pool_options());
      INFO((opened ? "" : opened.error().message()));
      REQUIRE(opened);
      Engine& engine = **opened;
      if (start == 0) {
        const auto prepared = engine.take_prepared("p").value();
        if (commits)
          REQUIRE(prepared->commit());
        else
          prepared->rollback();
      }
      // Waits until the loser is rolled back.
      expect_sound_but_for_unowned(engine);
      database.expect_all(engine, commits ? std::optional{of_prepared} : std::nullopt);
      // Until the reaper has taken a dropped tree, an older snapshot may still read it (T5).
      REQUIRE(engine.shrink());
      CHECK(engine.tree(of_prepared).has_value() == !commits);
      // Its page is freed once, and no other one is lost.
      expect_sound_but_for_unowned(engine);
      unowned[static_cast<std::size_t>(start)] = engine.verify().value();
      const auto transaction = engine.begin();
      CHECK(engine.create_tree(*transaction).has_value());
      transaction->rollback();
      REQUIRE(engine.close());
    }
    // Those of the old directory.
    CHECK_FALSE(unowned[0].empty());
    CHECK(unowned[1] == unowned[0]);
    const std::string of_dropped = fmt::format("page {}", root_of_prepared);
    for (const std::string& violation : unowned[0])
      CHECK(violation.find(of_dropped + " ") == std::string::npos);
  }
}

TEST_CASE("T25 a tree whose only page is damaged, too, is the only one that is lost",
          "[storage][directory]") {
  ManyTrees database;
  const TreeId lost = database.trees[17];
  const std::uint64_t root = database.page_of(lost);
  REQUIRE(root != 0);
  const bool is_header_readable = GENERATE(true, false);
  ManyTrees::damage(database.disk, root,
                    is_header_readable ? kPageBytes - 8 : offsetof(PageHeader, tree));
  ManyTrees::damage(database.disk, database.directory_pages().front());
  const auto engine = database.open().value();
  database.expect_all(*engine, lost);
  const auto reader = engine->begin();
  auto tree = engine->tree(lost);
  ValueBuffer value;
  if (tree) {
    // The log may still have it.
    const auto found = tree->get(*reader, as_bytes("key"), value);
    if (!found) CHECK(found.error().state() == sqlstate::data_corrupted);
  } else {
    CHECK_FALSE(is_header_readable);
  }
  reader->rollback();
  REQUIRE(engine->close());
}

TEST_CASE("T25 a power cut while the tree of trees is made anew loses nothing",
          "[storage][directory][crash]") {
  ManyTrees database;
  ManyTrees::damage(database.disk, database.directory_pages().front());
  int cuts = 0;
  for (std::uint64_t cut = 1; cut <= 60; cut += 3) {
    CAPTURE(cut);
    const auto disk = database.disk.copy(cut);
    const auto ended = Simulation{cut}.run([&] {
      disk->cut_power_at(DiskOperation::change, cut);
      const auto opened = Engine::open(*disk, kHome, small_pool_options());
    });
    cuts += ended == Simulation::Outcome::stopped ? 1 : 0;
    disk->crash(cut);
    const auto engine = Engine::open(*disk, kHome, small_pool_options()).value();
    database.expect_all(*engine);
    REQUIRE(engine->close());
  }
  CHECK(cuts > 5);
}

}  // namespace swizzle
