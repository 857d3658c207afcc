// Prepared transactions of a running engine: their owners, and their effects on others.
#include <catch2/catch.hpp>

#include "storage/testing/temporary_engine.h"

using namespace swizzle;
using namespace swizzle::testing;

namespace {

void insert(TemporaryEngine& in, Transaction& into, TreeId tree, std::string_view key,
            std::string_view value) {
  REQUIRE(in.engine->tree(tree).value().insert(into, as_bytes(key), as_bytes(value)).value());
}

/// Expects 55P03 if another transaction has locked the key.
std::string try_update(TemporaryEngine& in, TreeId tree, std::string_view key) {
  const auto transaction = in.engine->begin();
  ValueBuffer value;
  const auto found = in.engine->tree(tree).value().get(*transaction, as_bytes(key), value,
                                                       ReadMode::for_update, WaitPolicy::no_wait);
  if (!found) return std::string{found.error().state().code()};
  return *found ? "found" : "absent";
}

void prepare_one(TemporaryEngine& in, TreeId tree, std::string_view gid, std::string_view key) {
  const auto transaction = in.engine->begin();
  insert(in, *transaction, tree, key, "value");
  REQUIRE(transaction->prepare(gid, as_bytes("a note")));
}

}  // namespace

TEST_CASE("A prepared transaction is hidden and locked until it is committed, by anybody",
          "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  prepare_one(in, tree, "one", "k");
  const auto all = in.engine->prepared();
  REQUIRE(all.size() == 1);
  CHECK(all.front().gid == "one");
  CHECK(as_text(all.front().note) == "a note");
  CHECK(all.front().state == PreparedTransaction::State::waiting);
  CHECK(all.front().prepared_at_us != 0);
  CHECK_FALSE(in.get(tree, "k"));
  CHECK(try_update(in, tree, "k") == "55P03");
  const auto writers = in.engine->writers();
  REQUIRE(writers.size() == 1);
  CHECK(writers.front().state == WritingTransaction::State::prepared);

  auto taken = in.engine->take_prepared("one").value();
  CHECK(taken->id() == all.front().id);
  CHECK(in.engine->take_prepared("one").error().state() ==
        sqlstate::object_not_in_prerequisite_state);
  CHECK(in.engine->prepared().front().state == PreparedTransaction::State::busy);
  REQUIRE(taken->commit());
  CHECK(in.get(tree, "k") == "value");
  CHECK(try_update(in, tree, "k") == "found");
  CHECK(in.engine->prepared().empty());
  CHECK(in.engine->writers().empty());
  CHECK(in.engine->take_prepared("one").error().state() == sqlstate::undefined_object);
}

TEST_CASE("A prepared transaction is rolled back by anybody", "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  prepare_one(in, tree, "one", "k");
  in.engine->take_prepared("one").value()->rollback();
  CHECK_FALSE(in.get(tree, "k"));
  CHECK(try_update(in, tree, "k") == "absent");
  CHECK(in.engine->prepared().empty());
  prepare_one(in, tree, "one", "k");
}

TEST_CASE("Who takes a prepared transaction out and does not end it leaves it prepared",
          "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  prepare_one(in, tree, "one", "k");
  {
    const auto taken = in.engine->take_prepared("one").value();
    // The prepared transaction sees its own changes.
    taken->begin_statement();
    CHECK(in.get(*taken, tree, "k") == "value");
    taken->before_release([] { FAIL("nobody committed it"); });
  }
  CHECK(in.engine->snapshots().empty());
  CHECK(in.engine->prepared().front().state == PreparedTransaction::State::waiting);
  CHECK(try_update(in, tree, "k") == "55P03");
  const auto taken = in.engine->take_prepared("one").value();
  REQUIRE(taken->commit());
  CHECK(in.get(tree, "k") == "value");
}

TEST_CASE("An identifier is one transaction's, and has a length", "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  prepare_one(in, tree, "one", "k");
  const auto transaction = in.engine->begin();
  insert(in, *transaction, tree, "l", "value");
  CHECK(transaction->prepare("one", {}).error().state().code() == "42710");
  CHECK(transaction->prepare(std::string(200, 'x'), {}).error().state() ==
        sqlstate::invalid_parameter_value);
  // The transaction continues.
  insert(in, *transaction, tree, "m", "value");
  REQUIRE(transaction->prepare(std::string(199, 'x'), {}));
  {
    const auto nameless = in.engine->begin();
    REQUIRE(nameless->prepare("", {}));
  }
  CHECK(in.engine->prepared().size() == 3);
  for (const auto& waiting : in.engine->prepared())
    REQUIRE(in.engine->take_prepared(waiting.gid).value()->commit());
  CHECK(in.get(tree, "m") == "value");
}

TEST_CASE("What has written nothing, or may not, can be prepared", "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  {
    const auto writer = in.engine->begin();
    insert(in, *writer, tree, "k", "value");
    REQUIRE(writer->commit());
  }
  {
    const auto reader = in.engine->begin(Isolation::read_committed, Access::read_only);
    CHECK(in.get(*reader, tree, "k") == "value");
    REQUIRE(reader->prepare("reader", {}));
    const auto locker = in.engine->begin();
    CHECK(in.get(*locker, tree, "k", ReadMode::for_update) == "value");
    REQUIRE(locker->prepare("locker", {}));
  }
  CHECK(try_update(in, tree, "k") == "55P03");
  REQUIRE(in.engine->take_prepared("reader").value()->commit());
  CHECK(try_update(in, tree, "k") == "55P03");
  in.engine->take_prepared("locker").value()->rollback();
  CHECK(try_update(in, tree, "k") == "found");
}

TEST_CASE("What a savepoint took back is not prepared", "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  {
    const auto transaction = in.engine->begin();
    insert(in, *transaction, tree, "a", "kept");
    const auto mark = transaction->mark();
    insert(in, *transaction, tree, "b", "taken back");
    REQUIRE(transaction->rollback_to(mark));
    insert(in, *transaction, tree, "c", "kept");
    REQUIRE(transaction->prepare("one", {}));
  }
  CHECK(try_update(in, tree, "b") == "absent");
  REQUIRE(in.engine->take_prepared("one").value()->commit());
  CHECK(in.get(tree, "a") == "kept");
  CHECK_FALSE(in.get(tree, "b"));
  CHECK(in.get(tree, "c") == "kept");
}

TEST_CASE("The keys that a transaction has changed are known, and which are new",
          "[storage][prepared]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  {
    const auto before = in.engine->begin();
    insert(in, *before, tree, "old", "value");
    REQUIRE(before->commit());
  }
  const auto transaction = in.engine->begin();
  CHECK(Engine::changed_keys(*transaction, tree).empty());
  insert(in, *transaction, tree, "new", "1");
  Tree of = in.engine->tree(tree).value();
  REQUIRE(of.update(*transaction, as_bytes("new"), as_bytes("2")).value());
  REQUIRE(of.remove(*transaction, as_bytes("old")).value());
  const auto keys = Engine::changed_keys(*transaction, tree);
  REQUIRE(keys.size() == 2);
  CHECK(as_text(keys[0].key) == "new");
  CHECK(keys[0].is_new);
  CHECK(as_text(keys[1].key) == "old");
  CHECK_FALSE(keys[1].is_new);
  transaction->rollback();
}
