#include <catch2/catch.hpp>
#include <thread>

#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/versions/transaction_registry.h"

using namespace swizzle;
using namespace swizzle::testing;

namespace {

using Transactions = std::vector<std::unique_ptr<Transaction>>;

/// Begins transactions until the engine refuses one; returns the error.
Error fill(Engine& engine, TransactionPlace place, Transactions& into) {
  for (std::size_t i = 0; i <= TransactionRegistry::kSlots; ++i) {
    auto begun = engine.try_begin(Isolation::read_committed, Access::read_write, place);
    if (!begun) return std::move(begun).error();
    into.push_back(std::move(*begun));
  }
  FAIL("nobody is refused");
  std::abort();
}

}  // namespace

TEST_CASE("A transaction that finds no place is refused at once, and the system's own go on",
          "[storage][transactions]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  Transactions open;
  const Error refused = fill(*in.engine, TransactionPlace::ordinary, open);
  CHECK(refused.state().code() == "53400");
  CHECK(refused.message() == "too many transactions are open");
  CHECK_THAT(refused.hint(), Catch::Contains("idle_in_transaction_session_timeout"));
  CHECK(open.size() == TransactionRegistry::kOrdinarySlots);

  const Error superuser_refused = fill(*in.engine, TransactionPlace::superuser, open);
  CHECK(superuser_refused.state().code() == "53400");
  CHECK(open.size() == TransactionRegistry::kSlots - TransactionRegistry::kInternalSlots);

  // System transactions go on: they read and write, and a checkpoint knows them.
  {
    const auto own = in.engine->begin();
    Tree t = in.engine->tree(tree).value();
    REQUIRE(t.insert(*own, as_bytes("a"), as_bytes("1")).value());
    CHECK(in.engine->writers().size() == 1);
    REQUIRE(in.engine->checkpoint());
    REQUIRE(own->commit());
  }
  CHECK(in.get(tree, "a") == "1");

  // A reserved place is not given to the next transaction.
  CHECK_FALSE(in.engine->try_begin());
  open.resize(TransactionRegistry::kOrdinarySlots);
  CHECK_FALSE(in.engine->try_begin());
  CHECK(in.engine->try_begin(Isolation::read_committed, Access::read_only,
                             TransactionPlace::superuser));
  open.pop_back();
  CHECK(in.engine->try_begin());
}

TEST_CASE("A place that another thread has given back is found", "[storage][transactions]") {
  TemporaryEngine in;
  Transactions open;
  static_cast<void>(fill(*in.engine, TransactionPlace::ordinary, open));
  auto ended = std::move(open.back());
  open.pop_back();
  std::thread([&] { ended.reset(); }).join();
  CHECK(in.engine->try_begin());
}

TEST_CASE("A transaction begins again in its place", "[storage][transactions]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const auto transaction = in.engine->begin();
  transaction->restart(Isolation::repeatable_read, Access::read_only);
  CHECK(transaction->isolation() == Isolation::repeatable_read);
  CHECK(transaction->access() == Access::read_only);
  CHECK(in.engine->tree(tree)
            .value()
            .insert(*transaction, as_bytes("a"), as_bytes("1"))
            .error()
            .state() == sqlstate::read_only_transaction);
}
