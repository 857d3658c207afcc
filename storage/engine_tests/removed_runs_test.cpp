// Entries removed by one visit of a leaf are one undo record and one version, found through the
// leaf: seen by readers with older snapshots, other writers of the keys, splits, merges and
// rollbacks.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "storage/bulk_changes.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

std::string entry_key(int number) {
  return fmt::format("entry {:06}", number);
}

class Entries : public testing::TemporaryEngine {
 public:
  static constexpr int kEntries = 2000;

  Entries() {
    engine.reset();
    options.row_lock_limit = 0;
    open();
    entries = make_tree();
    const auto transaction = engine->begin();
    for (int i = 0; i < kEntries; ++i)
      REQUIRE(tree().insert(*transaction, as_bytes(entry_key(2 * i)), {}).value());
    REQUIRE(transaction->commit());
    forget_versions();
  }
  /// Waits until the versions are gone: until then a ghost may stay for the transaction that
  /// inserted the entry.
  void forget_versions() const {
    for (int tries = 0; engine->statistics().version_bytes != 0 && tries < 500; ++tries)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    REQUIRE(engine->statistics().version_bytes == 0);
  }
  [[nodiscard]] Tree tree() const { return engine->tree(entries).value(); }

  /// Begins a transaction that removes these entries as a statement does, which has read them
  /// before.
  std::unique_ptr<Transaction> begin_removing(int from, int to) {
    auto writer = engine->begin();
    writer->begin_statement();
    CHECK_FALSE(get(*writer, entries, "nothing"));
    remove(*writer, from, to);
    return writer;
  }
  void remove(Transaction& writer, int from, int to) const {
    std::vector<std::string> keys;
    for (int i = from; i < to; ++i) keys.push_back(entry_key(2 * i));
    std::vector<Removal> removals;
    for (const std::string& key : keys) removals.push_back({as_bytes(key), std::nullopt});
    for (std::span<const Removal> left{removals}; !left.empty();) {
      const std::size_t done = remove_first(tree(), writer, left).value();
      REQUIRE(done > 0);
      left = left.subspan(done);
    }
  }
  static std::uint64_t undo_records(Transaction& of) {
    return TransactionAccess::state(of).undo->count();
  }
  std::size_t count(Transaction& reader) { return content(reader, entries).size(); }
  /// Returns the number of rows in a new snapshot.
  std::size_t count() {
    const auto reader = engine->begin(Isolation::repeatable_read);
    return count(*reader);
  }

  TreeId entries{};
};

constexpr std::size_t kAll = Entries::kEntries;

}  // namespace

TEST_CASE_METHOD(Entries, "T19 entries that a leaf has side by side are removed as one",
                 "[storage][runs]") {
  auto writer = begin_removing(0, 1000);
  CHECK(undo_records(*writer) < 20);
  CHECK(count(*writer) == kAll);
  writer->begin_statement();
  CHECK(count(*writer) == kAll - 1000);
  CHECK(count() == kAll);
  CHECK_FALSE(get(*writer, entries, entry_key(10)));
  CHECK(get(entries, entry_key(10)) == "");
  const auto before = engine->begin(Isolation::repeatable_read);
  CHECK(count(*before) == kAll);
  SECTION("committed") {
    REQUIRE(writer->commit());
    CHECK(count() == kAll - 1000);
    CHECK(count(*before) == kAll);
    CHECK(get(*before, entries, entry_key(10)) == "");
  }
  SECTION("taken back") {
    writer->rollback();
    CHECK(count() == kAll);
    CHECK(count(*before) == kAll);
  }
  SECTION("taken back in part") {
    const Transaction::Mark savepoint = writer->mark();
    remove(*writer, 1000, 1500);
    writer->begin_statement();
    CHECK(count(*writer) == kAll - 1500);
    REQUIRE(writer->rollback_to(savepoint));
    CHECK(count(*writer) == kAll - 1000);
    REQUIRE(writer->commit());
    CHECK(count() == kAll - 1000);
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Entries, "T19 who wants an entry of a run waits for its transaction",
                 "[storage][runs][locks]") {
  auto writer = begin_removing(0, 1000);
  const auto other = engine->begin();
  other->set_lock_timeout(std::chrono::milliseconds{2});
  const std::string key = entry_key(100);
  const auto blocked = tree().insert(*other, as_bytes(key), {});
  REQUIRE_FALSE(blocked);
  CHECK(blocked.error().state() == sqlstate::lock_not_available);
  ValueBuffer ignored;
  CHECK_FALSE(tree().get(*other, as_bytes(key), ignored, ReadMode::for_update));
  other->rollback();
  SECTION("committed: it can be had, and older snapshots have the old one") {
    const auto before = engine->begin(Isolation::repeatable_read);
    CHECK(count(*before) == kAll);
    REQUIRE(writer->commit());
    const auto late = engine->begin(Isolation::repeatable_read);
    CHECK(count(*late) == kAll - 1000);
    const auto next = engine->begin();
    next->begin_statement();
    REQUIRE(tree().insert(*next, as_bytes(key), {}).value());
    CHECK(count(*before) == kAll);
    CHECK_FALSE(get(*late, entries, key));
    REQUIRE(next->commit());
    CHECK(count(*before) == kAll);
    CHECK(get(*before, entries, key) == "");
    CHECK_FALSE(get(*late, entries, key));
    CHECK(get(entries, key) == "");
    // A transaction that sees another's entry, or none, under the key must not insert one.
    const auto hidden = tree().insert(*before, as_bytes(entry_key(102)), {});
    REQUIRE_FALSE(hidden);
    CHECK(hidden.error().state() == sqlstate::serialization_failure);
  }
  SECTION("taken back: it is there") {
    writer->rollback();
    CHECK_FALSE(tree().insert(*engine->begin(), as_bytes(key), {}).value());
  }
  SECTION("its own: it can be put back, and taken back again") {
    writer->begin_statement();
    const Transaction::Mark savepoint = writer->mark();
    REQUIRE(tree().insert(*writer, as_bytes(key), {}).value());
    writer->begin_statement();
    CHECK(get(*writer, entries, key) == "");
    CHECK(get(entries, key) == "");
    REQUIRE(tree().remove(*writer, as_bytes(key)).value());
    writer->begin_statement();
    CHECK_FALSE(get(*writer, entries, key));
    CHECK(count() == kAll);
    REQUIRE(writer->rollback_to(savepoint));
    CHECK_FALSE(get(*writer, entries, key));
    CHECK(count() == kAll);
    REQUIRE(writer->commit());
    CHECK(count() == kAll - 1000);
  }
}

TEST_CASE_METHOD(Entries, "T19 a run is found wherever its entries move", "[storage][runs]") {
  const bool commits = GENERATE(true, false);
  auto writer = begin_removing(0, kEntries);
  const auto before = engine->begin(Isolation::repeatable_read);
  CHECK(count(*before) == kAll);
  // Split the leaves.
  const auto filler = engine->begin();
  for (int i = 0; i < kEntries; ++i)
    REQUIRE(tree().insert(*filler, as_bytes(entry_key(2 * i + 1)), {}).value());
  REQUIRE(filler->commit());
  CHECK(count() == 2 * kAll);
  CHECK(count(*before) == kAll);
  {
    // Merge or rebalance them.
    const auto sweeper = engine->begin();
    for (int i = 0; i < kEntries; ++i)
      if (i % 16 != 0) REQUIRE(tree().remove(*sweeper, as_bytes(entry_key(2 * i + 1))).value());
    REQUIRE(sweeper->commit());
  }
  for (int round = 0; round < 3; ++round) CHECK(count() == kAll + kAll / 16);
  CHECK(count(*before) == kAll);
  if (commits)
    REQUIRE(writer->commit());
  else
    writer->rollback();
  CHECK(count(*before) == kAll);
  CHECK(count() == kAll / 16 + (commits ? 0 : kAll));
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Entries, "T19 a run is found where leaves have merged", "[storage][runs]") {
  constexpr int kApart = 20;
  constexpr int kTogether = 3;
  auto writer = begin_removing(0, kTogether);
  for (int i = kApart; i < kEntries; i += kApart) remove(*writer, i, i + kTogether);
  {
    const auto sweeper = engine->begin();
    for (int i = 0; i < kEntries; ++i)
      if (i % kApart >= kTogether)
        REQUIRE(tree().remove(*sweeper, as_bytes(entry_key(2 * i))).value());
    REQUIRE(sweeper->commit());
  }
  // Its snapshot was older.
  writer->begin_statement();
  static_cast<void>(get(*writer, entries, "nothing"));
  forget_versions();
  constexpr std::size_t kLeft = kAll / kApart * kTogether;
  const auto before = engine->begin(Isolation::repeatable_read);
  // Scans remove the sweeper's ghosts, so that nearly empty leaves merge.
  for (int round = 0; round < 20; ++round) CHECK(count() == kLeft);
  CHECK(count(*before) == kLeft);
  for (int i = 0; i < kEntries; i += kApart) CHECK(get(*before, entries, entry_key(2 * i)) == "");
  SECTION("committed") {
    REQUIRE(writer->commit());
    CHECK(count() == 0);
    CHECK(count(*before) == kLeft);
  }
  SECTION("taken back") {
    writer->rollback();
    CHECK(count() == kLeft);
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Entries, "T19 nothing is left of a run when nobody needs it", "[storage][runs]") {
  auto writer = begin_removing(0, kEntries);
  REQUIRE(writer->commit());
  forget_versions();
  CHECK(count() == 0);
  const auto next = engine->begin();
  for (int i = 0; i < kEntries; ++i)
    REQUIRE(tree().insert(*next, as_bytes(entry_key(2 * i)), {}).value());
  REQUIRE(next->commit());
  CHECK(count() == kAll);
}

TEST_CASE_METHOD(Entries, "T19 a restart takes runs back", "[storage][runs]") {
  auto writer = begin_removing(0, 1500);
  TransactionState& state = TransactionAccess::state(*writer);
  // Some runs are restored already, one of them in part.
  const bool began = GENERATE(true, false);
  if (began) state.undo_to(state.undo->count() / 2);
  {
    const auto other = engine->begin();
    REQUIRE(tree().insert(*other, as_bytes("other"), {}).value());
    REQUIRE(other->commit());
  }
  kill(std::move(writer));
  CHECK(count() == kAll + 1);
  CHECK(engine->verify().value().empty());
}

}  // namespace swizzle
