// Numbers of 32 bits end with an error and never wrap.
#include <catch2/catch.hpp>

#include "storage/engine_parts.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
using Catch::Contains;
using testing::TemporaryEngine;

TEST_CASE_METHOD(TemporaryEngine, "no number is given to two trees when they are used up",
                 "[storage][engine]") {
  const TreeId before = make_tree();
  {
    const auto transaction = engine->begin();
    TransactionAccess::state(*transaction).engine.trees->number_from(TreeId{UINT32_MAX - 3});
    std::vector<TreeId> last;
    for (int i = 0; i < 2; ++i) last.push_back(engine->create_tree(*transaction).value());
    CHECK(last.back() == TreeId{UINT32_MAX - 2});
    // Write large values of the last tree: the end of its range is the number after it.
    Tree tree = engine->tree(last.back()).value();
    REQUIRE(tree.insert(*transaction, as_bytes("key"), as_bytes(std::string(50'000, 'L'))).value());
    for (int i = 0; i < 3; ++i) {
      const auto refused = engine->create_tree(*transaction);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().state() == sqlstate::program_limit_exceeded);
      CHECK_THAT(refused.error().message(), Contains("cannot have more trees"));
    }
    REQUIRE(transaction->commit());
  }
  close();
  open();
  {
    const auto transaction = engine->begin();
    CHECK_FALSE(engine->create_tree(*transaction));
    REQUIRE(engine->drop_tree(*transaction, TreeId{UINT32_MAX - 2}));
    REQUIRE(transaction->commit());
  }
  REQUIRE(engine->shrink());
  const auto transaction = engine->begin();
  CHECK(content(*transaction, TreeId{1}).empty());
  CHECK_FALSE(engine->create_tree(*transaction));
  CHECK_FALSE(get(*transaction, before, "key"));
  transaction->rollback();
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "a transaction's statements do not begin again behind the last",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  const auto transaction = engine->begin(Isolation::repeatable_read);
  transaction->begin_statement();
  TransactionAccess::state(*transaction).statement = TransactionState::kLastStatement - 2;
  Tree rows = engine->tree(tree).value();
  int written = 0;
  for (int i = 0; i < 5; ++i) {
    transaction->begin_statement();
    // All writes of earlier statements are visible.
    CHECK(content(*transaction, tree).size() == static_cast<std::size_t>(written));
    const auto inserted = rows.insert(*transaction, as_bytes(std::to_string(i)), as_bytes("v"));
    if (inserted) {
      ++written;
      continue;
    }
    CHECK(inserted.error().state() == sqlstate::program_limit_exceeded);
    CHECK(inserted.error().message() == "cannot have more than 2^32-2 commands in a transaction");
  }
  CHECK(written == 1);
  CHECK(content(*transaction, tree).size() == 1);
  REQUIRE(transaction->commit());
  CHECK(get(tree, "0") == "v");
}

}  // namespace swizzle
