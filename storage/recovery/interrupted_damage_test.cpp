// Damages each page of a database that was killed beside open and prepared transactions, where
// neither log nor double write can rebuild it. The restart, the background rollback and the end of
// what is prepared go on, and the page costs its own rows.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "storage/page/page.h"
#include "storage/recovery/killed_database.h"
#include "storage/space/volume.h"

namespace swizzle::interrupted_damage {
namespace {

using test::kHome;

constexpr int kRows = 120;
constexpr int kFillerRows = 600;
constexpr std::size_t kLargeBytes = 20'000;

std::string key_of(int row) {
  return fmt::format("{:05}", row);
}
std::string committed_value(int row) {
  return row % 10 == 0 ? std::string(kLargeBytes, 'l') : std::string(600, 'v');
}

/// A database whose process ended in the middle of two transactions, beside a prepared one.
struct Interrupted {
  SimulatedDisk disk{1};
  /// The loser changes few rows of the first, too many to keep it open of the second, and drops the
  /// third. The prepared transaction changes the fourth and drops the fifth.
  std::array<TreeId, 5> trees{};
  TreeId filler{};

  Interrupted() {
    const EngineOptions options = test::small_pool_options();
    REQUIRE(Engine::create(disk, kHome, options));
    auto engine = Engine::open(disk, kHome, options).value();
    {
      const auto first = engine->begin();
      for (TreeId& tree : trees) tree = engine->create_tree(*first).value();
      filler = engine->create_tree(*first).value();
      for (const TreeId tree : trees)
        for (int row = 0; row < kRows; ++row)
          REQUIRE(engine->tree(tree).value().insert(*first, as_bytes(key_of(row)),
                                                    as_bytes(committed_value(row))));
      REQUIRE(first->commit());
    }
    REQUIRE(engine->checkpoint());
    forget_old_log(*engine);
    const auto loser = engine->begin();
    change(*engine, *loser, trees[0], 0, 9);
    change(*engine, *loser, trees[1], 0, kRows);
    REQUIRE(engine->drop_tree(*loser, trees[2]));
    const TreeId created = engine->create_tree(*loser).value();
    change(*engine, *loser, created, 0, 30);
    const auto prepared = engine->begin();
    change(*engine, *prepared, trees[3], 0, 40);
    REQUIRE(engine->drop_tree(*prepared, trees[4]));
    REQUIRE(prepared->prepare("p", {}));
    change(*engine, *loser, trees[0], 50, 55);
    const auto last = engine->begin();
    static_cast<void>(engine->create_tree(*last).value());
    REQUIRE(last->commit());
    // The process ends here.
    disk.sync_everything();
    killed = disk.copy(1);
  }

  static void change(Engine& engine, Transaction& transaction, TreeId id, int from, int to) {
    Tree tree = engine.tree(id).value();
    for (int row = from; row < to; ++row) {
      const std::string key = key_of(row);
      REQUIRE(tree.insert(transaction, as_bytes(key + "+"), as_bytes(std::string(300, 'n'))));
      if (row % 3 == 0) REQUIRE(tree.remove(transaction, as_bytes(key)));
      if (row % 3 == 1) REQUIRE(tree.update(transaction, as_bytes(key), as_bytes("short")));
      if (row % 3 == 2)
        REQUIRE(tree.update(transaction, as_bytes(key), as_bytes(std::string(kLargeBytes, 'c'))));
    }
  }

  /// Writes until the log has no older image of any page.
  void forget_old_log(Engine& engine) {
    int row = 0;
    for (int round = 0; round < 4; ++round) {
      for (const int end = row + kFillerRows; row < end; ++row) {
        const auto transaction = engine.begin();
        REQUIRE(engine.tree(filler).value().insert(*transaction, as_bytes(key_of(row)),
                                                   as_bytes(std::string(700, 'f'))));
        REQUIRE(transaction->commit());
      }
      REQUIRE(engine.checkpoint());
    }
  }

  std::unique_ptr<SimulatedDisk> killed;
};

/// Counts the committed rows of a tree that cannot be read. Each other one must be as it was.
int lost_rows(Engine& engine, TreeId id) {
  auto tree = engine.tree(id);
  if (!tree) {
    INFO(tree.error().message());
    REQUIRE(tree.error().state() == sqlstate::data_corrupted);
    return kRows;
  }
  const auto reader = engine.begin();
  ValueBuffer value;
  int lost = 0;
  for (int row = 0; row < kRows; ++row) {
    const auto found = tree->get(*reader, as_bytes(key_of(row)), value);
    if (!found) {
      INFO(found.error().message());
      REQUIRE(found.error().state() == sqlstate::data_corrupted);
      ++lost;
      continue;
    }
    CAPTURE(row);
    REQUIRE(*found);
    REQUIRE(as_text(value.bytes()) == committed_value(row));
  }
  return lost;
}

}  // namespace

TEST_CASE("R9 each page of a database that was killed beside open transactions",
          "[recovery][bad-input][crash]") {
  const test::MostOpenRows most(64);
  const Interrupted interrupted;
  const auto bytes = interrupted.killed->contents(kHome / Volume::kFileName);
  int lossy = 0;
  int whole = 0;
  for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
    const std::byte* const at = bytes.data() + page * kPageBytes;
    if (!check_page(at, PageId{page})) continue;
    const auto header = load<PageHeader>(at);
    // A few of the filler's pages suffice.
    if (header.tree == interrupted.filler && page % 16 != 0) continue;
    CAPTURE(page, raw(header.tree), static_cast<int>(header.level));
    const auto disk = interrupted.killed->copy(1);
    test::damage_page(*disk, PageId{page});
    for (int start = 0; start < 2; ++start) {
      CAPTURE(start);
      auto opened = Engine::open(*disk, kHome, test::small_pool_options());
      INFO((opened ? "" : opened.error().message()));
      REQUIRE(opened);
      Engine& engine = **opened;
      if (start == 0) {
        REQUIRE(engine.prepared().size() == 1);
        engine.take_prepared("p").value()->rollback();
      }
      int trees = 0;
      for (const TreeId tree : interrupted.trees) {
        CAPTURE(raw(tree));
        const int lost = lost_rows(engine, tree);
        trees += lost > 0 ? 1 : 0;
        if (lost > 0 && header.level == 0 && header.tree == tree) CHECK(lost < 40);
      }
      // A page of large values has parts of several trees' values.
      const bool is_shared = raw(header.tree) <= 1;
      CHECK((trees <= 1 || is_shared));
      trees > 0 ? ++lossy : ++whole;
      const auto transaction = engine.begin();
      const auto created = engine.create_tree(*transaction);
      INFO((created ? "" : created.error().message()));
      REQUIRE(created);
      REQUIRE(transaction->commit());
      REQUIRE(engine.close());
    }
  }
  CHECK(lossy > 20);
  CHECK(whole > 20);
}

}  // namespace swizzle::interrupted_damage
