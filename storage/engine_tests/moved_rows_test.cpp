// Rows move to another page while a snapshot is older than the newest change of one of them. Each
// page that gets some must show that it has changed since; otherwise a reader takes the current row
// for its snapshot's.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "base/runtime/runtime.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

class MovedRows : public testing::TemporaryEngine {
 public:
  static constexpr int kStep = 1000;  ///< gap between the rows' numbers, for inserts
  static std::string key(int number) { return "row " + std::to_string(100'000'000 + number); }
  static std::string value(char what) { return std::string(100, what); }

  void fill(int rows) {
    tree = make_tree();
    insert(0, rows, kStep);
  }
  void insert(int from, int count, int step) {
    const auto writer = engine->begin();
    for (int i = 0; i < count; ++i)
      REQUIRE(
          table().insert(*writer, as_bytes(key(from + i * step)), as_bytes(value('o'))).value());
    REQUIRE(writer->commit());
  }
  void update(int number) {
    const auto writer = engine->begin();
    REQUIRE(table().update(*writer, as_bytes(key(number)), as_bytes(value('n'))).value());
    REQUIRE(writer->commit());
  }
  void remove(Transaction& writer, int number) const {
    REQUIRE(table().remove(writer, as_bytes(key(number))).value());
  }
  void forget_versions() const {
    for (int tries = 0; engine->statistics().version_bytes != 0 && tries < 500; ++tries)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    REQUIRE(engine->statistics().version_bytes == 0);
  }
  [[nodiscard]] Tree table() const { return engine->tree(tree).value(); }

  TreeId tree{};
};

}  // namespace

TEST_CASE_METHOD(MovedRows, "P35 both halves of a split say how new they are",
                 "[storage][isolation]") {
  // In the root alone, which becomes a branch first, and in a leaf among others.
  const int rows = GENERATE(30, 400);
  const int changed = GENERATE_COPY(0, rows / 2, rows - 1);
  const int grown = GENERATE_COPY(0, rows / 2, rows - 1);
  CAPTURE(rows, changed, grown);
  fill(rows);
  const auto reader = engine->begin(Isolation::repeatable_read);
  const auto before = content(*reader, tree);
  update(changed * kStep);
  // Insert after that row, so that the others of its page move.
  insert(grown * kStep + 1, 200, 2);
  CHECK(get(*reader, tree, key(changed * kStep)) == value('o'));
  CHECK(content(*reader, tree) == before);
  CHECK(get(tree, key(changed * kStep)) == value('n'));
}

TEST_CASE_METHOD(MovedRows, "P35 what two neighbours have become says how new it is",
                 "[storage][isolation]") {
  constexpr int kRows = 3000;
  constexpr int kGroup = 80;  // rows of one page
  // Neighbours merge if all lose rows, and are rebalanced if every other one does.
  const bool all_lose = GENERATE(true, false);
  const int changed = GENERATE(range(1000, 1160, 40));
  CAPTURE(all_lose, changed);
  fill(kRows);
  std::map<std::string, std::string> before;
  {
    const auto sweeper = engine->begin();
    for (int i = 0; i < kRows; ++i)
      if ((all_lose || i / kGroup % 2 == 0) && i % 8 != 0)
        remove(*sweeper, i * kStep);
      else
        before.emplace(key(i * kStep), value('o'));
    REQUIRE(sweeper->commit());
  }
  forget_versions();
  // Read by key: a scan would merge the pages before the change.
  const auto reader = engine->begin(Isolation::repeatable_read);
  CHECK(get(*reader, tree, key(0)) == value('o'));
  update(changed * kStep);
  // Reads remove the ghosts, so that nearly empty pages merge.
  for (int round = 0; round < 10; ++round) {
    const auto fresh = engine->begin();
    CHECK(content(*fresh, tree).size() == before.size());
    CHECK(get(*reader, tree, key(changed * kStep)) == value('o'));
    CHECK(content(*reader, tree) == before);
  }
  CHECK(engine->verify().value().empty());
}

}  // namespace swizzle
