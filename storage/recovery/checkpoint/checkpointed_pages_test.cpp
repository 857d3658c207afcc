#include <catch2/catch.hpp>

#include "storage/testing/temporary_engine.h"

namespace swizzle {

TEST_CASE_METHOD(testing::TemporaryEngine,
                 "R2 what only memory has at a checkpoint comes back from the log before it",
                 "[storage][recovery]") {
  // Each tree is in a page of its own, and no page is dirty.
  std::vector<TreeId> trees(12);
  for (TreeId& tree : trees) tree = make_tree();
  close();
  open();
  for (const TreeId tree : trees) {
    {
      const auto transaction = engine->begin();
      REQUIRE(engine->tree(tree)
                  .value()
                  .insert(*transaction, as_bytes("key"), as_bytes("value"))
                  .value());
      REQUIRE(transaction->commit());
    }
    REQUIRE(engine->checkpoint());
    crash();
    CHECK(get(tree, "key") == "value");
  }
}

}  // namespace swizzle
