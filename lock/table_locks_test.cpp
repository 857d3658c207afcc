#include <catch2/catch.hpp>

#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

struct Setup {
  LockVariant variant;
  IntentPath path;
};
const std::vector<Setup> kSetups{{LockVariant::raw, IntentPath::private_slots},
                                 {LockVariant::raw, IntentPath::shared_table},
                                 {LockVariant::latched, IntentPath::private_slots},
                                 {LockVariant::latched, IntentPath::shared_table}};

LockOptions options_of(const Setup& setup) {
  LockOptions options = small_table(setup.variant);
  options.intent_path = setup.path;
  return options;
}

}  // namespace

TEST_CASE("table locks exclude as their modes say, whichever path intents take", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  for (std::uint8_t a = 1; a < kTableModes; ++a) {
    for (std::uint8_t b = 1; b < kTableModes; ++b) {
      LockOwner one{manager};
      LockOwner two{manager};
      REQUIRE(one.acquire_table(kTree, TableMode{a}));
      const auto second = two.acquire_table(kTree, TableMode{b}, kSkipLocked);
      CHECK((state_of(second) == "granted") == compatible(TableMode{a}, TableMode{b}));
      CHECK(state_of(two.acquire_table(TreeId{8}, TableMode{b}, kNoWait)) == "granted");
      CHECK(state_of(two.acquire_database(TableMode{b}, kNoWait)) == "granted");
      one.release_all(Lsn::none);
      two.release_all(Lsn::none);
    }
  }
  CHECK(manager.snapshot().empty());
}

TEST_CASE("table locks combine", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  for (std::uint8_t a = 1; a < kTableModes; ++a) {
    for (std::uint8_t b = 1; b < kTableModes; ++b) {
      const TableMode both = combine(TableMode{a}, TableMode{b});
      LockOwner owner{manager};
      REQUIRE(owner.acquire_table(kTree, TableMode{a}));
      REQUIRE(owner.acquire_table(kTree, TableMode{b}));
      CHECK(owner.held_table(kTree) == both);
      for (std::uint8_t c = 1; c < kTableModes; ++c) {
        LockOwner other{manager};
        CHECK((state_of(other.acquire_table(kTree, TableMode{c}, kSkipLocked)) == "granted") ==
              compatible(both, TableMode{c}));
        other.release_all(Lsn::none);
      }
      owner.release_all(Lsn::none);
    }
  }
}

TEST_CASE("intents stay in private slots until somebody asks for more", "[lock]") {
  LockManager manager{small_table()};
  LockOwner writer{manager};
  REQUIRE(writer.acquire_table(kTree, TableMode::intent_shared));
  REQUIRE(writer.acquire_table(kTree, TableMode::intent_exclusive));
  CHECK(writer.locks_held() == 0);
  CHECK(manager.snapshot().size() == 1);

  LockOwner ddl{manager};
  std::atomic<bool> granted{false};
  InThread strong{[&] {
    INVARIANT(state_of(ddl.acquire_table(kTree, TableMode::exclusive, kPatient)) == "granted");
    granted = true;
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  // Later requests queue up behind the strong one.
  LockOwner late{manager};
  CHECK(state_of(late.acquire_table(kTree, TableMode::intent_shared, kSkipLocked)) == "skipped");
  CHECK_FALSE(granted);
  writer.release_all(Lsn::none);
  strong.join();
  CHECK(granted);
  CHECK(state_of(late.acquire_table(kTree, TableMode::intent_shared, kSkipLocked)) == "skipped");
  ddl.release_all(Lsn::none);
  CHECK(state_of(late.acquire_table(kTree, TableMode::intent_shared, kNoWait)) == "granted");
  CHECK(late.locks_held() == 0);
  late.release_all(Lsn::none);
}

TEST_CASE("an intent grows past a strong request that waits for it", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  LockOwner session{manager};
  LockOwner ddl{manager};
  REQUIRE(session.acquire_table(kTree, TableMode::intent_shared));
  InThread strong{[&] {
    INVARIANT(state_of(ddl.acquire_table(kTree, TableMode::exclusive, kPatient)) == "granted");
    ddl.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  // A transaction that has read goes on to write.
  CHECK(state_of(session.acquire_table(kTree, TableMode::intent_exclusive)) == "granted");
  CHECK(state_of(session.acquire_table(kTree, TableMode::shared)) == "granted");
  session.release_all(Lsn::none);
  strong.join();
  CHECK(manager.statistics().deadlocks == 0);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("more tables than slots", "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  for (std::uint32_t tree = 1; tree <= 100; ++tree) {
    REQUIRE(owner.acquire_table(TreeId{tree}, TableMode::intent_exclusive));
  }
  LockOwner other{manager};
  for (std::uint32_t tree = 1; tree <= 100; ++tree) {
    CHECK(state_of(other.acquire_table(TreeId{tree}, TableMode::shared, kSkipLocked)) == "skipped");
    CHECK(state_of(other.acquire_table(TreeId{tree}, TableMode::intent_exclusive)) == "granted");
  }
  other.release_all(Lsn::none);
  owner.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("P6 a strong request that timed out does not starve intents", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  LockOwner holder{manager};
  LockOwner ddl{manager};
  LockOwner writer{manager};
  REQUIRE(holder.acquire_table(kTree, TableMode::intent_shared));
  for (int i = 0; i < 3; ++i) {
    CHECK(state_of(ddl.acquire_table(kTree, TableMode::exclusive, {.lock_timeout = 5ms})) ==
          "55P03");
    CHECK(state_of(ddl.acquire_table(kTree, TableMode::exclusive, kNoWait)) == "55P03");
  }
  CHECK(state_of(writer.acquire_table(kTree, TableMode::intent_exclusive, kNoWait)) == "granted");
  // It uses the private path again.
  CHECK(writer.locks_held() == (setup.path == IntentPath::private_slots ? 0U : 1U));
  writer.release_all(Lsn::none);
  holder.release_all(Lsn::none);
}

TEST_CASE("P6 an intent that waits behind a strong request is let in when that times out",
          "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  LockOwner holder{manager};
  LockOwner ddl{manager};
  REQUIRE(holder.acquire_table(kTree, TableMode::intent_exclusive));
  InThread strong{[&] {
    INVARIANT(state_of(ddl.acquire_table(kTree, TableMode::shared, {.lock_timeout = 100ms})) ==
              "55P03");
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  LockOwner writer{manager};
  CHECK(state_of(writer.acquire_table(kTree, TableMode::intent_exclusive)) == "granted");
  writer.release_all(Lsn::none);
  holder.release_all(Lsn::none);
}

TEST_CASE("P10 table locks and intents carry the LSNs of what was released below them", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  LockOwner writer{manager};
  LockOwner reader{manager};
  // Key locks below an intent, then a reader of the whole table.
  REQUIRE(writer.acquire_table(kTree, TableMode::intent_exclusive));
  REQUIRE(writer.try_acquire(key(1), kWriteKey));
  writer.release_all(Lsn{300});
  REQUIRE(reader.acquire_table(kTree, TableMode::shared));
  CHECK(reader.read_watermark() == Lsn{300});
  reader.release_all(Lsn::none);
  // A writer of the whole table without key locks, then a reader of one key.
  REQUIRE(writer.acquire_table(kTree, TableMode::exclusive));
  CHECK(writer.try_acquire(key(2), kWriteKey));
  CHECK(writer.locks_held() == 1);
  writer.release_all(Lsn{400});
  reader.begin(TxnId::none);
  REQUIRE(reader.acquire_table(kTree, TableMode::intent_shared));
  REQUIRE(reader.try_acquire(key(2), kReadKey));
  CHECK(reader.read_watermark() == Lsn{400});
  reader.release_all(Lsn::none);
}

TEST_CASE("a table lock answers for its keys", "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  REQUIRE(owner.acquire_table(kTree, TableMode::shared));
  CHECK(owner.try_acquire(key(1), kReadKeyAndGap));
  CHECK(owner.locks_held() == 1);
  CHECK(owner.held(key(1)) == kReadKeyAndGap);
  CHECK(owner.try_acquire(key(1), kWriteKey));
  CHECK(owner.locks_held() == 2);
  CHECK(owner.held(key(1)) == KeyMode{Access::exclusive, Access::shared});
  owner.release_all(Lsn::none);
}

TEST_CASE("many key locks become one table lock", "[lock]") {
  LockOptions options = small_table();
  options.escalation_threshold = 10;
  LockManager manager{options};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId::none, LockOwner::Escalation::when_due);
  REQUIRE(owner.acquire_table(kTree, TableMode::intent_exclusive));
  const LockMark mark = owner.mark();
  for (std::uint64_t i = 0; i < 30; ++i) {
    REQUIRE(owner.acquire({TreeId{9}, i}, i % 2 == 0 ? kReadKey : kReadGap));
  }
  CHECK(owner.held_table(TreeId{9}) == TableMode::shared);
  CHECK(owner.locks_held() == 1);
  // Written keys stay locked one by one; keys only read need no locks of their own.
  for (std::uint64_t i = 0; i < 30; ++i) REQUIRE(owner.acquire(key(i), kWriteKey));
  CHECK(owner.held_table(kTree) == TableMode::intent_exclusive);
  CHECK(owner.locks_held() == 31);
  for (std::uint64_t i = 30; i < 60; ++i) REQUIRE(owner.acquire(key(i), kReadKeyAndGap));
  CHECK(owner.held_table(kTree) == TableMode::shared_intent_exclusive);
  CHECK(owner.locks_held() == 32);
  CHECK(owner.held(key(3)) == KeyMode{Access::exclusive, Access::shared});
  CHECK(owner.held(key(59)) == kReadKeyAndGap);
  CHECK(manager.statistics().escalations == 2);
  CHECK(state_of(other.acquire_table(kTree, TableMode::intent_exclusive, kSkipLocked)) ==
        "skipped");
  // The table lock may stand for key locks from before the savepoint, so it stays.
  owner.release_to(mark);
  CHECK(owner.held_table(kTree) == TableMode::shared_intent_exclusive);
  CHECK(owner.held(key(59)) == kReadKeyAndGap);
  REQUIRE(owner.acquire(key(3), kWriteKey));
  owner.release_all(Lsn{77});
  CHECK(manager.snapshot().empty());
  REQUIRE(other.acquire_table(kTree, TableMode::intent_shared));
  REQUIRE(other.acquire(key(3), kReadKey));
  CHECK(other.read_watermark() == Lsn{77});
  other.release_all(Lsn::none);
}

TEST_CASE("intents in slots end with a rollback to a mark before them", "[lock]") {
  constexpr RelationId kRelation{77};
  LockManager manager{small_table()};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId{1});
  other.begin(TxnId{2});
  REQUIRE(owner.acquire_table(TreeId{1}, TableMode::intent_shared));
  REQUIRE(owner.acquire_table(TreeId{2}, TableMode::intent_exclusive));
  REQUIRE(owner.acquire(key(1), kReadKey));
  const LockMark mark = owner.mark();
  REQUIRE(owner.acquire_table(TreeId{1}, TableMode::intent_exclusive));
  REQUIRE(owner.acquire_table(TreeId{3}, TableMode::intent_exclusive));
  REQUIRE(owner.try_share_relation(kRelation));
  const auto may = [&](TreeId tree, TableMode mode) {
    const LockMark before = other.mark();
    const std::string state = state_of(other.acquire_table(tree, mode, kSkipLocked));
    other.release_to(before);
    return state;
  };
  const auto may_change = [&] {
    const LockMark before = other.mark();
    const std::string state =
        state_of(other.acquire_relation(kRelation, RelationMode::access_exclusive, kSkipLocked));
    other.release_to(before);
    return state;
  };
  CHECK(may(TreeId{1}, TableMode::shared) == "skipped");
  CHECK(may(TreeId{3}, TableMode::exclusive) == "skipped");
  CHECK(may_change() == "skipped");

  owner.release_to(mark);
  CHECK(owner.held_table(TreeId{1}) == TableMode::intent_shared);
  CHECK(owner.held_table(TreeId{2}) == TableMode::intent_exclusive);
  CHECK(owner.held_table(TreeId{3}) == TableMode::none);
  CHECK(may(TreeId{1}, TableMode::shared) == "granted");
  CHECK(may(TreeId{1}, TableMode::exclusive) == "skipped");
  CHECK(may(TreeId{2}, TableMode::shared) == "skipped");
  CHECK(may(TreeId{3}, TableMode::exclusive) == "granted");
  CHECK(may_change() == "granted");

  // The slots serve again, and a mark includes what was granted before it.
  REQUIRE(owner.acquire_table(TreeId{3}, TableMode::intent_exclusive));
  REQUIRE(owner.acquire(key(2), kWriteKey));
  const LockMark later = owner.mark();
  REQUIRE(owner.acquire_table(TreeId{1}, TableMode::intent_exclusive));
  owner.release_to(later);
  CHECK(owner.held_table(TreeId{3}) == TableMode::intent_exclusive);
  CHECK(may(TreeId{3}, TableMode::shared) == "skipped");
  CHECK(may(TreeId{1}, TableMode::shared) == "granted");
  owner.release_all(Lsn::none);
  other.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a mark behind a released key includes the intents of before", "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId{1});
  other.begin(TxnId{2});
  REQUIRE(owner.acquire(key(1), kWriteKey));
  REQUIRE(owner.acquire_table(TreeId{3}, TableMode::intent_exclusive));
  owner.release_last(key(1), kWriteKey);
  const LockMark mark = owner.mark();
  owner.release_to(mark);
  CHECK(owner.held_table(TreeId{3}) == TableMode::intent_exclusive);
  CHECK(state_of(other.acquire_table(TreeId{3}, TableMode::shared, kSkipLocked)) == "skipped");
  owner.release_all(Lsn::none);
  other.release_all(Lsn::none);
}

TEST_CASE("a strong request goes on when a rollback ends the intent before it", "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId{1});
  other.begin(TxnId{2});
  const bool widens = GENERATE(false, true);
  if (widens) REQUIRE(owner.acquire_table(TreeId{3}, TableMode::intent_shared));
  const LockMark mark = owner.mark();
  REQUIRE(owner.acquire_table(TreeId{3}, TableMode::intent_exclusive));
  std::thread waiter([&] {
    INVARIANT(state_of(other.acquire_table(TreeId{3}, TableMode::shared, kPatient)) == "granted");
  });
  std::this_thread::sleep_for(20ms);
  owner.release_to(mark);
  waiter.join();
  owner.release_all(Lsn::none);
  other.release_all(Lsn::none);
}

TEST_CASE("only keys that are read bring escalation nearer", "[lock]") {
  LockOptions options = small_table();
  options.escalation_threshold = 10;
  LockManager manager{options};
  LockOwner owner{manager};
  owner.begin(TxnId::none, LockOwner::Escalation::when_due);
  REQUIRE(owner.acquire_table(kTree, TableMode::intent_exclusive));
  for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(owner.acquire(key(i), kWriteKey));
  for (std::uint64_t i = 100; i < 105; ++i) REQUIRE(owner.acquire(key(i), kReadKey));
  const LockMark mark = owner.mark();
  for (std::uint64_t i = 105; i < 109; ++i) REQUIRE(owner.acquire(key(i), kReadKey));
  CHECK(owner.held_table(kTree) == TableMode::intent_exclusive);
  // A key that is read again, released, or written after all counts once, not at all, and not at
  // all.
  REQUIRE(owner.acquire(key(100), kReadKeyAndGap));
  owner.release_to(mark);
  for (std::uint64_t i = 100; i < 103; ++i) REQUIRE(owner.acquire(key(i), kWriteKey));
  for (std::uint64_t i = 200; i < 207; ++i) REQUIRE(owner.acquire(key(i), kReadKey));
  CHECK(owner.held_table(kTree) == TableMode::intent_exclusive);
  REQUIRE(owner.acquire(key(207), kReadKey));
  CHECK(owner.held_table(kTree) == TableMode::shared_intent_exclusive);
  CHECK(manager.statistics().escalations == 1);
  owner.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("an owner that does not say so keeps its locks key by key", "[lock]") {
  LockOptions options = small_table();
  options.escalation_threshold = 10;
  LockManager manager{options};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId::none);
  for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(owner.acquire(key(i), kReadKey));
  owner.escalate_if_due(kTree);
  CHECK(owner.locks_held() == 100);
  CHECK(manager.statistics().escalations == 0);
  REQUIRE(other.acquire_table(kTree, TableMode::intent_exclusive, kNoWait));
  other.release_all(Lsn::none);
  owner.release_all(Lsn::none);
}

TEST_CASE("escalation gives way to other users of the table and tries again later", "[lock]") {
  LockOptions options = small_table();
  options.escalation_threshold = 10;
  LockManager manager{options};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId::none, LockOwner::Escalation::when_due);
  REQUIRE(other.acquire_table(kTree, TableMode::intent_exclusive));
  REQUIRE(owner.acquire_table(kTree, TableMode::intent_exclusive));
  for (std::uint64_t i = 0; i < 15; ++i) REQUIRE(owner.acquire(key(i), kReadKey));
  CHECK(owner.locks_held() == 15);
  CHECK(owner.held_table(kTree) == TableMode::intent_exclusive);
  other.release_all(Lsn::none);
  for (std::uint64_t i = 15; i < 30; ++i) REQUIRE(owner.try_acquire(key(i), kReadKey));
  CHECK(owner.locks_held() == 30);  // try_acquire never escalates
  owner.escalate_if_due(kTree);
  CHECK(owner.locks_held() == 1);
  CHECK(owner.held_table(kTree) == TableMode::shared_intent_exclusive);
  owner.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("locks on relations: every pair of modes, granted and refused", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  constexpr RelationId table{16384};
  constexpr RelationId stranger{16385};
  for (std::uint8_t a = 1; a <= kRelationModes; ++a) {
    for (std::uint8_t b = 1; b <= kRelationModes; ++b) {
      const RelationMode one{a};
      const RelationMode other{b};
      INFO(name(one) << ", then " << name(other));
      LockOwner holder{manager};
      LockOwner asker{manager};
      REQUIRE(holder.acquire_relation(table, one));
      CHECK(holder.acquire_relation(table, one).has_value());
      const bool fits = compatible(one, other);
      CHECK(state_of(asker.acquire_relation(table, other, kNoWait)) ==
            (fits ? "granted" : "55P03"));
      CHECK(state_of(asker.acquire_relation(stranger, other, kNoWait)) == "granted");
      // A relation's number is not that of a tree.
      CHECK(state_of(asker.acquire_table(TreeId{16384}, TableMode::exclusive, kNoWait)) ==
            "granted");
      asker.release_all(Lsn::none);
      // A failed request has released the locks that it took before.
      LockOwner third{manager};
      holder.release_all(Lsn::none);
      CHECK(state_of(third.acquire_relation(table, RelationMode::access_exclusive, kNoWait)) ==
            "granted");
      third.release_all(Lsn::none);
    }
  }
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a wait for the holders of a relation ends with them and holds nobody off", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  const RelationMode against = GENERATE(RelationMode::share, RelationMode::access_exclusive);
  constexpr RelationId table{16384};
  LockManager manager{options_of(setup)};
  LockOwner builder{manager};
  REQUIRE(builder.acquire_relation(table, RelationMode::share_update_exclusive));
  for (std::uint8_t number = 1; number <= kRelationModes; ++number) {
    const RelationMode held{number};
    if (!compatible(held, RelationMode::share_update_exclusive)) continue;
    INFO(name(held) << " against " << name(against));
    LockOwner holder{manager};
    REQUIRE(holder.acquire_relation(table, held));
    std::atomic<bool> is_over{false};
    InThread wait{[&] {
      INVARIANT(state_of(builder.wait_for_holders(table, against, kPatient)) == "granted");
      is_over = true;
    }};
    if (compatible(held, against)) {
      wait.join();
      holder.release_all(Lsn::none);
      continue;
    }
    REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
    CHECK(std::ranges::count(manager.waits(), LockRow::Kind::relation_holders, &LockRow::kind) ==
          1);
    // Later requests are granted, and the wait does not include them.
    LockOwner late{manager};
    CHECK(state_of(late.acquire_relation(table, held, kNoWait)) == "granted");
    CHECK_FALSE(is_over);
    holder.release_all(Lsn{number});
    wait.join();
    CHECK(builder.read_watermark() >= Lsn{number});
    late.release_all(Lsn::none);
  }
  builder.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a wait for the holders of a relation passes over those that wait for the relation",
          "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  constexpr RelationId table{16384};
  LockManager manager{options_of(setup)};
  LockOwner builder{manager};
  LockOwner next{manager};
  builder.begin(TxnId{1});
  next.begin(TxnId{2});
  REQUIRE(builder.acquire_relation(table, RelationMode::share_update_exclusive));
  const RelationMode mode =
      GENERATE(RelationMode::share_update_exclusive, RelationMode::access_exclusive);
  InThread waiter{[&] {
    INVARIANT(state_of(next.acquire_relation(table, mode, kPatient)) == "granted");
    next.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK(state_of(builder.wait_for_holders(table, RelationMode::share, kPatient)) == "granted");
  builder.release_all(Lsn::none);
  waiter.join();
  CHECK(manager.statistics().deadlocks == 0);
}

TEST_CASE("a wait for the holders of a relation is a deadlock's victim, and can be cancelled",
          "[lock]") {
  constexpr RelationId table{16384};
  LockManager manager{small_table()};
  LockOwner builder{manager};
  LockOwner writer{manager};
  builder.begin(TxnId{2});
  writer.begin(TxnId{1});
  REQUIRE(builder.acquire_relation(table, RelationMode::share_update_exclusive));
  REQUIRE(writer.acquire_relation(table, RelationMode::row_exclusive));
  InThread definer{[&] {
    INVARIANT(state_of(writer.acquire_relation(table, RelationMode::access_exclusive, kPatient)) ==
              "granted");
    writer.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const auto outcome = builder.wait_for_holders(table, RelationMode::share, kPatient);
  REQUIRE(state_of(outcome) == "40P01");
  CHECK_THAT(outcome.error().detail(),
             Catch::Contains("the end of the transactions that use relation 16384"));
  builder.release_all(Lsn::none);
  definer.join();

  REQUIRE(builder.acquire_relation(table, RelationMode::share_update_exclusive));
  REQUIRE(writer.acquire_relation(table, RelationMode::row_exclusive));
  CHECK(state_of(builder.wait_for_holders(table, RelationMode::share, {.lock_timeout = 1ms})) ==
        "55P03");
  builder.cancel();
  CHECK(state_of(builder.wait_for_holders(table, RelationMode::share, kPatient)) == "57014");
  builder.clear_cancel();
  builder.release_all(Lsn::none);
  writer.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a lock on a relation waits, and its deadlocks are found beside those of keys",
          "[lock]") {
  LockManager manager{small_table()};
  LockOwner reader{manager};
  LockOwner definer{manager};
  reader.begin(TxnId{1});
  definer.begin(TxnId{2});
  constexpr RelationId table{16384};
  REQUIRE(reader.acquire_relation(table, RelationMode::access_share));
  REQUIRE(definer.try_acquire(key(1), kWriteKey));
  InThread waiter{[&] {
    const auto outcome = definer.acquire_relation(table, RelationMode::access_exclusive, kPatient);
    INVARIANT(state_of(outcome) == "40P01");
    INVARIANT(outcome.error().detail().find("AccessExclusiveLock on relation 16384") !=
              std::string::npos);
    definer.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const auto rows = manager.snapshot();
  CHECK(std::ranges::count(rows, LockRow::Kind::relation, &LockRow::kind) == 2);
  CHECK(state_of(reader.acquire(key(1), kReadKey, kPatient)) == "granted");
  waiter.join();
  reader.release_all(Lsn::none);
}

TEST_CASE("sharing a relation in passing is the same lock", "[lock]") {
  const Setup setup = GENERATE(from_range(kSetups));
  LockManager manager{options_of(setup)};
  constexpr RelationId table{16384};
  LockOwner reader{manager};
  LockOwner definer{manager};
  const bool in_slot = reader.try_share_relation(table);
  CHECK(in_slot == (setup.path == IntentPath::private_slots));
  if (!in_slot) return;
  CHECK(reader.try_share_relation(table));
  CHECK(manager.snapshot().size() == 1);
  CHECK(state_of(definer.acquire_relation(table, RelationMode::access_exclusive, kNoWait)) ==
        "55P03");
  CHECK(state_of(definer.acquire_relation(table, RelationMode::exclusive, kNoWait)) == "granted");
  // While there is a strong request, intents go through the queue.
  LockOwner late{manager};
  CHECK_FALSE(late.try_share_relation(table));
  CHECK(state_of(late.acquire_relation(table, RelationMode::access_share, kNoWait)) == "granted");
  definer.release_all(Lsn{5});
  late.release_all(Lsn::none);
  // A stronger mode grows in its slot; it covers less then.
  CHECK(state_of(reader.acquire_relation(table, RelationMode::row_exclusive)) == "granted");
  CHECK(reader.try_share_relation(table));
  CHECK(state_of(definer.acquire_relation(table, RelationMode::share, kNoWait)) == "55P03");
  reader.release_all(Lsn::none);
  CHECK(state_of(definer.acquire_relation(table, RelationMode::access_exclusive, kNoWait)) ==
        "granted");
  CHECK_FALSE(reader.try_share_relation(table));
  definer.release_all(Lsn{9});
  CHECK(reader.try_share_relation(table));
  CHECK(reader.read_watermark() == Lsn{9});
  reader.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("locks on 60,000 relations and their trees cost no more each than on a few", "[lock]") {
#ifdef SWIZZLE_SLOW_INVARIANTS
  constexpr auto kMost = 60s;
#else
  constexpr auto kMost = 5s;
#endif
  constexpr std::uint32_t kMany = 60'000;
  LockManager manager{LockOptions{}};
  LockOwner owner{manager};
  const auto begun = std::chrono::steady_clock::now();
  for (int round = 0; round < 2; ++round) {
    owner.begin(TxnId{1});
    REQUIRE(owner.acquire_table(TreeId{kMany}, TableMode::shared));
    for (std::uint32_t i = 0; i < kMany; ++i)
      REQUIRE(owner.acquire_relation(RelationId{16'000 + i}, RelationMode::access_share));
    // In another order, so that the last used lock does not help.
    for (std::uint32_t i = 0; i < kMany; ++i) {
      const TreeId tree{i * 7919 % kMany};
      REQUIRE(owner.acquire_table(tree, TableMode::intent_exclusive));
      REQUIRE(owner.held_table(tree) == TableMode::intent_exclusive);
    }
    // The first lock is known as before, whatever came after it.
    REQUIRE(owner.held_table(TreeId{kMany}) == TableMode::shared);
    owner.release_all(Lsn::none);
  }
  const auto took = std::chrono::steady_clock::now() - begun;
  INFO(std::chrono::duration<double>(took).count() << " s");
  CHECK(took < kMost);
}

}  // namespace swizzle::lock
