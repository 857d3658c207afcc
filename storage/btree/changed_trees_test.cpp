#include "storage/btree/changed_trees.h"

#include <catch2/catch.hpp>

#include "storage/btree/records.h"

using namespace swizzle;

namespace {

/// Notes the same in both ways.
struct Both {
  ChangedTrees running;
  OpenChanges logged{.is_known = true};
  void note(RecordKind kind, std::uint32_t tree, Bytes payload = as_bytes("payload")) {
    running.note(kind, TreeId{tree});
    note_change(logged, kind, TreeId{tree}, payload);
  }
  void require_same() const {
    const OpenChanges read = running.read();
    REQUIRE(read.is_known == logged.is_known);
    if (!logged.is_known) return;
    REQUIRE(read.trees.size() == logged.trees.size());
    for (std::size_t i = 0; i < read.trees.size(); ++i) {
      REQUIRE(read.trees[i].tree == logged.trees[i].tree);
      REQUIRE(read.trees[i].records == logged.trees[i].records);
    }
  }
};

}  // namespace

TEST_CASE("R15 a checkpoint and the log tell the same of a transaction's trees", "[storage]") {
  Both both;
  for (std::uint32_t i = 0; i < 100; ++i) {
    both.note(RecordKind::leaf_insert, 7 + i % 3);
    both.note(RecordKind::leaf_update, 7);
    both.note(RecordKind::change_noted, 0);
    both.note(RecordKind::leaf_remove, 7 + i % 5);
  }
  both.require_same();
  CHECK(both.logged.is_known);
  CHECK(both.logged.trees.size() == 5);
  CHECK(both.logged.undo_bytes == 300 * payload::most_undo_bytes(1, 7));
  const OpenChanges before = both.running.read();
  ChangedTrees restarted;
  restarted.begin_with(before);
  restarted.note(RecordKind::leaf_insert, TreeId{9});
  const OpenChanges after = restarted.read();
  CHECK(after.trees[2].records == before.trees[2].records + 1);
  CHECK(after.is_known);
  both.note(RecordKind::load_begun, 7);
  both.require_same();
  CHECK_FALSE(both.logged.is_known);
  both.running.clear();
  CHECK(both.running.read().trees.empty());
  CHECK(both.running.read().is_known);
}

TEST_CASE("R15 a transaction of too many trees is not known", "[storage]") {
  Both both;
  for (std::uint32_t i = 0; i < ChangedTrees::kMost; ++i)
    both.note(RecordKind::leaf_insert, 100 + i);
  both.require_same();
  CHECK(both.logged.is_known);
  both.note(RecordKind::leaf_insert, 100);
  CHECK(both.logged.is_known);
  both.note(RecordKind::leaf_insert, 99);
  both.require_same();
  CHECK_FALSE(both.logged.is_known);
}

TEST_CASE("R15 the rows of a record of several are counted", "[storage]") {
  std::vector<std::byte> payload;
  for (std::uint16_t i = 0; i < 9; ++i) {
    const std::array<std::uint16_t, 2> sizes{3, i};
    const auto* const head = reinterpret_cast<const std::byte*>(sizes.data());
    payload.insert(payload.end(), head, head + sizeof sizes);
    payload.resize(payload.size() + 3 + i);
  }
  CHECK(payload::decode_leaf_rows(payload).value().size() == 9);
  CHECK(payload::count_leaf_rows(payload) == 9);
  payload.resize(payload.size() - 1);
  CHECK(payload::count_leaf_rows(payload) <= 9);
  CHECK(payload::count_leaf_rows({}) == 0);
}
