// Readers on a standby, beside its redo.
#include "storage/standby/standby_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/standby/sent_files.h"
#include "storage/standby/standby.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;

const std::filesystem::path kOtherHome = "/copy";
constexpr std::uint64_t kAccounts = 200;
constexpr std::uint64_t kEach = 1000;
/// Of the tree that is replaced.
constexpr std::uint64_t kRows = 150;

EngineOptions options_of(PoolMode mode) {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{96} * 8704;
  options.pool_mode = mode;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{300} << 10U;
  return options;
}

std::string account(std::uint64_t number) {
  return fmt::format("account {:06}", number);
}

/// The balance comes first; the rest makes leaves split, and, where it is long, lies elsewhere.
std::string balance(std::uint64_t amount, std::size_t padding) {
  return fmt::format("{:012}", amount) + std::string(padding, 'x');
}

std::uint64_t amount_of(Bytes value) {
  return std::stoull(std::string{as_text(value).substr(0, 12)});
}

/// Returns the value; fails with the error's words.
template <class T>
T valued(Result<T> result, const char* what) {
  if (!result) FAIL(what << ": " << result.error().message());
  return std::move(*result);
}

/// A primary with accounts, and a standby that is read.
struct Bank {
  explicit Bank(std::uint64_t seed, PoolMode reads_by = PoolMode::swizzling)
      : disk(seed), other(seed + 1), mode(reads_by) {
    REQUIRE(Engine::create(disk, kHome, options_of(PoolMode::swizzling)));
    primary = Engine::open(disk, kHome, options_of(PoolMode::swizzling)).value();
    const auto transaction = primary->begin();
    tree = primary->create_tree(*transaction).value();
    Tree into = primary->tree(tree).value();
    for (std::uint64_t i = 0; i < kAccounts; ++i)
      REQUIRE(into.insert(*transaction, as_bytes(account(i * 10)), as_bytes(balance(kEach, 30)))
                  .value());
    REQUIRE(into.insert(*transaction, as_bytes("commits"), as_bytes(balance(0, 0))).value());
    REQUIRE(transaction->commit());
    ReceivedFiles received{other, "/", {}};
    SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
    REQUIRE(primary->logical_log().copy_database(sent, "copy", {}));
    standby = Standby::open(other, kOtherHome).value();
  }
  ~Bank() {
    engine.reset();
    if (standby) standby->forget_engine();
  }

  /// Moves some money, perhaps to or from accounts that come or go; true: it has committed.
  bool transfer(Random& random) {
    const auto transaction = primary->begin();
    transaction->begin_statement();
    Tree into = primary->tree(tree).value();
    const auto fails = [&](const auto& result) {
      if (result) return false;
      transaction->rollback();
      return true;
    };
    for (int moves = 0; moves < 3; ++moves) {
      const std::string from = account(random.below(kAccounts * 10));
      const std::string to = account(random.below(kAccounts * 10));
      if (from == to) continue;
      transaction->begin_statement();
      ValueBuffer value;
      auto found = into.get(*transaction, as_bytes(from), value, ReadMode::for_update);
      if (fails(found)) return false;
      if (!*found) continue;
      const std::uint64_t had = amount_of(value.bytes());
      const std::uint64_t sent = random.one_in(4) ? had : random.below(had + 1);
      auto taken = sent == had ? into.remove(*transaction, as_bytes(from))
                               : into.update(*transaction, as_bytes(from),
                                             as_bytes(balance(had - sent, padding(random))));
      if (fails(taken)) return false;
      pause(random);
      found = into.get(*transaction, as_bytes(to), value, ReadMode::for_update);
      if (fails(found)) return false;
      const std::uint64_t has = *found ? amount_of(value.bytes()) : 0;
      const std::string fresh = balance(has + sent, padding(random));
      auto given = *found ? into.update(*transaction, as_bytes(to), as_bytes(fresh))
                          : into.insert(*transaction, as_bytes(to), as_bytes(fresh));
      if (fails(given)) return false;
      pause(random);
    }
    if (random.one_in(5)) {
      transaction->rollback();
      return false;
    }
    transaction->begin_statement();
    ValueBuffer value;
    auto counted = into.get(*transaction, as_bytes("commits"), value, ReadMode::for_update);
    if (fails(counted)) return false;
    const std::string count = balance(amount_of(value.bytes()) + 1, 0);
    if (fails(into.update(*transaction, as_bytes("commits"), as_bytes(count)))) return false;
    return transaction->commit().has_value();
  }
  /// Puts a new tree with equal values in the place of the one that "tree" names.
  void replace_tree(Random& random) {
    const auto transaction = primary->begin();
    transaction->begin_statement();
    Tree names = primary->tree(tree).value();
    ValueBuffer old;
    const bool is_first =
        !names.get(*transaction, as_bytes("tree"), old, ReadMode::for_update).value();
    const std::string old_number{as_text(old.bytes())};
    const TreeId made = primary->create_tree(*transaction).value();
    const std::string value = std::to_string(raw(made)) + std::string(40, 'v');
    std::uint64_t next = 0;
    std::string key;
    if (random.one_in(2)) {
      const auto next_record = [&]() -> Result<std::optional<Engine::Record>> {
        if (next == kRows) return std::optional<Engine::Record>{};
        key = account(next++);
        return Engine::Record{as_bytes(key), as_bytes(value)};
      };
      REQUIRE(primary->bulk_load(*transaction, made, next_record));
    } else {
      Tree into = primary->tree(made).value();
      for (; next < kRows; ++next)
        REQUIRE(into.insert(*transaction, as_bytes(account(next)), as_bytes(value)).value());
    }
    pause(random);
    transaction->begin_statement();
    const std::string number = std::to_string(raw(made));
    REQUIRE((is_first ? names.insert(*transaction, as_bytes("tree"), as_bytes(number))
                      : names.update(*transaction, as_bytes("tree"), as_bytes(number)))
                .value());
    if (!is_first)
      REQUIRE(primary->drop_tree(*transaction,
                                 TreeId{static_cast<std::uint32_t>(std::stoul(old_number))}));
    pause(random);
    if (random.one_in(3)) return transaction->rollback();
    REQUIRE(transaction->commit());
  }
  static void pause(Random& random) {
    const Duration longest = std::chrono::microseconds{random.below(500)};
    Runtime::current().sleep_until(Runtime::current().now() + longest);
  }
  static std::size_t padding(Random& random) {
    if (random.one_in(20)) return 9000;
    return random.below(600);
  }

  void send() const {
    const auto reader = primary->logical_log().bytes();
    while (standby->received() < reader->durable())
      REQUIRE(standby->append(reader->read(standby->received(), reader->durable()).value()));
    REQUIRE(standby->flush());
  }
  /// Opens the standby for reading. Pre: it has redone what its copy needs.
  void open_engine() {
    StandbyReaders readers;
    readers.patience = [this] { return patience; };
    readers.cancel = [this] { ++cancels; };
    readers.moved = [this](const std::set<TreeId>& changed) -> Result<> {
      moved.insert(changed.begin(), changed.end());
      return {};
    };
    engine = standby->open_engine(options_of(mode), std::move(readers)).value();
  }
  /// Gets the standby to where it can be read.
  void follow_and_open() {
    const auto transaction = primary->begin();
    REQUIRE(primary->create_tree(*transaction));
    REQUIRE(transaction->commit());
    send();
    REQUIRE(standby->redo_some().value());
    open_engine();
  }

  struct Seen {
    std::uint64_t sum = 0;
    std::uint64_t commits = 0;
    std::string tree = {};
    std::uint64_t rows = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  [[nodiscard]] Seen look(Transaction& transaction) const {
    Seen seen;
    Cursor cursor = valued(engine->tree(tree).value().scan(transaction, {}), "the scan");
    while (valued(cursor.next(), "the accounts")) {
      const std::string_view key = as_text(cursor.key());
      if (key == "commits") seen.commits = amount_of(cursor.value());
      if (key == "tree") seen.tree = as_text(cursor.value());
      if (key.starts_with("account")) seen.sum += amount_of(cursor.value());
    }
    if (!seen.tree.empty()) {
      const TreeId named{static_cast<std::uint32_t>(std::stoul(seen.tree))};
      Tree tree_of_rows = valued(engine->tree(named), "the tree that is named");
      Cursor rows = valued(tree_of_rows.scan(transaction, {}), "its scan");
      for (; valued(rows.next(), "its rows"); ++seen.rows) {
        const bool is_its_own = as_text(rows.value()) == seen.tree + std::string(40, 'v');
        CHECK(is_its_own);
      }
      CHECK(seen.rows == kRows);
    }
    return seen;
  }
  [[nodiscard]] Seen look() const {
    REQUIRE(engine->replay_gate()->enter());
    const auto transaction = engine->begin(Isolation::repeatable_read, Access::read_only);
    const Seen seen = look(*transaction);
    transaction->rollback();
    engine->replay_gate()->leave();
    return seen;
  }

  SimulatedDisk disk;
  SimulatedDisk other;
  const PoolMode mode;
  std::unique_ptr<Engine> primary;
  TreeId tree{};
  std::unique_ptr<Standby> standby;
  std::unique_ptr<Engine> engine;
  std::optional<Duration> patience;
  int cancels = 0;
  std::set<TreeId> moved;
};

}  // namespace

TEST_CASE("readers of a standby see whole transactions, beside writers, redo and power cuts",
          "[standby][hot-standby]") {
  const PoolMode mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  for_seeds(6, [mode](std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.run([&] {
      Bank bank{seed, mode};
      bank.follow_and_open();
      bool stops = false;
      std::uint64_t looks = 0;
      std::uint64_t newest = 0;
      std::size_t most_open = 0;
      std::vector<std::unique_ptr<Task>> writers;
      for (std::uint64_t i = 0; i < 3; ++i) {
        writers.push_back(Runtime::current().spawn("writer", [&, i] {
          Random random{seed * 10 + i};
          for (int n = 0; n < 120; ++n) bank.transfer(random);
        }));
      }
      writers.push_back(Runtime::current().spawn("definer", [&] {
        Random random{seed + 7};
        for (int n = 0; n < 20; ++n) bank.replace_tree(random);
      }));
      const auto redo = Runtime::current().spawn("redo", [&] {
        Random random{seed + 99};
        while (!stops) {
          bank.send();
          valued(bank.standby->redo_some(), "redo");
          Bank::pause(random);
        }
      });
      std::vector<std::unique_ptr<Task>> readers;
      for (std::uint64_t i = 0; i < 2; ++i) {
        readers.push_back(Runtime::current().spawn("reader", [&, i] {
          Random random{seed + 50 + i};
          while (!stops) {
            REQUIRE(bank.engine->replay_gate()->enter());
            const std::uint64_t known = newest;
            const auto transaction = bank.engine->begin(
                i == 0 ? Isolation::repeatable_read : Isolation::read_committed, Access::read_only);
            transaction->begin_statement();
            const Bank::Seen first = bank.look(*transaction);
            CHECK(first.sum == kAccounts * kEach);
            CHECK(first.commits >= known);
            newest = std::max(newest, first.commits);
            most_open = std::max(most_open, bank.engine->writers().size());
            Runtime::current().yield();
            transaction->begin_statement();
            CHECK(bank.look(*transaction) == first);
            transaction->rollback();
            bank.engine->replay_gate()->leave();
            ++looks;
            Bank::pause(random);
          }
        }));
      }
      for (const auto& task : writers) task->join();
      stops = true;
      for (const auto& task : readers) task->join();
      redo->join();
      CHECK(looks > 4);
      CHECK(newest > 10);
      CHECK(most_open > 0);
      bank.send();
      while (bank.standby->redo_some().value()) {
      }
      const auto at_primary = bank.primary->begin(Isolation::repeatable_read, Access::read_only);
      const std::string key = "commits";
      ValueBuffer value;
      REQUIRE(bank.primary->tree(bank.tree).value().get(*at_primary, as_bytes(key), value).value());
      // Nothing of the last commit is left to a later step.
      const Bank::Seen last = bank.look();
      CHECK(last.sum == kAccounts * kEach);
      CHECK(last.commits == amount_of(value.bytes()));
      at_primary->rollback();
      // A power cut, and all once more.
      bank.engine.reset();
      bank.standby.reset();
      bank.other.crash(seed);
      bank.standby = Standby::open(bank.other, kOtherHome).value();
      bank.follow_and_open();
      CHECK(bank.look().sum == kAccounts * kEach);
      // And it can be promoted.
      bank.engine.reset();
      bank.standby->forget_engine();
      REQUIRE(bank.standby->promote());
      bank.standby.reset();
      bank.engine = Engine::open(bank.other, kOtherHome, options_of(mode)).value();
      const auto transaction = bank.engine->begin(Isolation::repeatable_read, Access::read_only);
      CHECK(bank.look(*transaction).sum == kAccounts * kEach);
      transaction->rollback();
      CHECK(bank.engine->verify().value().empty());
    });
  });
}

TEST_CASE("an open transaction of the primary is seen on a standby once its commit is redone",
          "[standby][hot-standby]") {
  Simulation simulation{3};
  simulation.run([] {
    Bank bank{3};
    bank.follow_and_open();
    const auto writer = bank.primary->begin();
    writer->begin_statement();
    Tree tree = bank.primary->tree(bank.tree).value();
    REQUIRE(tree.update(*writer, as_bytes(account(0)), as_bytes(balance(5, 0))).value());
    REQUIRE(tree.remove(*writer, as_bytes(account(10))).value());
    REQUIRE(tree.insert(*writer, as_bytes(account(15)), as_bytes(balance(7, 9000))).value());
    const TreeId made = bank.primary->create_tree(*writer).value();
    REQUIRE(bank.primary->tree(made).value().insert(*writer, as_bytes("a"), as_bytes("b")).value());
    bank.primary->logical_log().flush();
    bank.send();
    REQUIRE(bank.standby->redo_some().value());
    CHECK(bank.moved.contains(bank.tree));
    bank.moved.clear();
    CHECK(bank.look().sum == kAccounts * kEach);
    CHECK(bank.look().sum == kAccounts * kEach);
    REQUIRE(writer->commit());
    bank.send();
    REQUIRE(bank.standby->redo_some().value());
    CHECK(bank.look().sum == kAccounts * kEach - kEach + 5 - kEach + 7);
    // Its last record names no tree.
    CHECK(bank.moved.contains(bank.tree));
    CHECK(bank.moved.contains(made));
    const auto reader = bank.engine->begin(Isolation::repeatable_read, Access::read_only);
    ValueBuffer value;
    REQUIRE(bank.engine->tree(made).value().get(*reader, as_bytes("a"), value).value());
    CHECK(as_text(value.bytes()) == "b");
    reader->rollback();
  });
}

TEST_CASE("nothing is written on a standby", "[standby][hot-standby]") {
  Simulation simulation{4};
  simulation.run([] {
    Bank bank{4};
    bank.follow_and_open();
    const auto writer = bank.engine->begin();
    writer->begin_statement();
    Tree tree = bank.engine->tree(bank.tree).value();
    const auto refused = [](const auto& result) {
      REQUIRE(!result);
      CHECK(result.error().state() == sqlstate::read_only_transaction);
    };
    refused(tree.insert(*writer, as_bytes("new"), as_bytes("1")));
    refused(tree.update(*writer, as_bytes(account(0)), as_bytes("1")));
    refused(tree.remove(*writer, as_bytes(account(0))));
    refused(bank.engine->create_tree(*writer));
    refused(bank.engine->drop_tree(*writer, bank.tree));
    writer->rollback();
    CHECK(!bank.engine->shrink());
    CHECK(!bank.engine->back_up("/elsewhere"));
    CHECK(!bank.engine->verify());
    CHECK(bank.engine->checkpoint());
    const auto end = bank.standby->received();
    CHECK(bank.look().sum == kAccounts * kEach);
    CHECK(bank.standby->received() == end);
  });
}

TEST_CASE("a step waits for readers as long as they may stay, and tells them to go then",
          "[standby][hot-standby]") {
  Simulation simulation{5};
  simulation.run([] {
    Bank bank{5};
    bank.follow_and_open();
    bank.patience = std::chrono::seconds{30};
    Random random{5};
    while (!bank.transfer(random)) {
    }
    bank.send();
    REQUIRE(bank.engine->replay_gate()->enter());
    const TimePoint began = Runtime::current().now();
    bool is_redone = false;
    const auto redo = Runtime::current().spawn("redo", [&] {
      REQUIRE(bank.standby->redo_some().value());
      is_redone = true;
    });
    // Others come and go meanwhile.
    for (int i = 0; i < 20; ++i) {
      CHECK(bank.look().commits == 0);
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{1});
    }
    CHECK(!is_redone);
    CHECK(bank.cancels == 0);
    while (bank.cancels == 0)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    CHECK(Runtime::current().now() - began >= std::chrono::seconds{30});
    CHECK(Runtime::current().now() - began < std::chrono::seconds{32});
    CHECK(!is_redone);
    bank.engine->replay_gate()->leave();
    redo->join();
    CHECK(is_redone);
    CHECK(bank.look().commits == 1);
  });
}

TEST_CASE("a standby is not read before its pages are of one time", "[standby][hot-standby]") {
  Simulation simulation{6};
  simulation.run([] {
    Bank bank{6};
    const auto opened = bank.standby->open_engine(options_of(PoolMode::swizzling), {});
    REQUIRE(!opened);
    CHECK(opened.error().state() == sqlstate::object_not_in_prerequisite_state);
    CHECK_THAT(opened.error().message(), Contains("consistent recovery state"));
    bank.follow_and_open();
    // A step that is interrupted in the middle of its writes lets nobody in.
    Random random{6};
    for (int i = 0; i < 20; ++i) bank.transfer(random);
    bank.send();
    int left = 2;
    const auto may_go_on = [&left] { return left-- > 0; };
    REQUIRE(!bank.standby->redo_some(may_go_on).value());
    bool is_in = false;
    const auto reader = Runtime::current().spawn("reader", [&] {
      const Bank::Seen seen = bank.look();
      CHECK(seen.sum == kAccounts * kEach);
      CHECK(seen.commits > 0);
      is_in = true;
    });
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{1});
    CHECK(!is_in);
    REQUIRE(bank.standby->redo_some().value());
    reader->join();
    CHECK(is_in);
  });
}

TEST_CASE("a server behind a standby has the last transaction of an idle log",
          "[standby][hot-standby]") {
  Simulation simulation{8};
  simulation.run([] {
    Bank bank{8};
    SimulatedDisk third_disk{80};
    ReceivedFiles received{third_disk, "/", {}};
    SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
    REQUIRE(bank.primary->logical_log().copy_database(sent, "copy", {}));
    const auto third = Standby::open(third_disk, kOtherHome).value();
    bank.follow_and_open();
    Random random{8};
    while (!bank.transfer(random)) continue;
    bank.send();
    REQUIRE(bank.standby->redo_some().value());
    const Lsn end = bank.primary->logical_log().durable();
    CHECK(bank.standby->replayed() == end);
    {
      const auto reader = bank.engine->logical_log().bytes();
      while (third->received() < reader->durable())
        REQUIRE(third->append(reader->read(third->received(), reader->durable()).value()));
      REQUIRE(third->flush());
    }
    while (third->redo_some().value()) continue;
    CHECK(third->replayed() == end);
    const auto read_by = third->open_engine(options_of(PoolMode::swizzling), {}).value();
    {
      const auto transaction = read_by->begin(Isolation::repeatable_read, Access::read_only);
      ValueBuffer value;
      Tree tree = read_by->tree(bank.tree).value();
      REQUIRE(tree.get(*transaction, as_bytes("commits"), value).value());
      CHECK(amount_of(value.bytes()) == 1);
      transaction->rollback();
    }
    // Started anew, the one in the middle sends as far as it did.
    bank.engine.reset();
    bank.standby->forget_engine();
    bank.standby.reset();
    bank.other.crash(8);
    bank.standby = Standby::open(bank.other, kOtherHome).value();
    bank.open_engine();
    CHECK(bank.engine->logical_log().durable() == third->received());
  });
}

TEST_CASE("a copy that has all of an idle log is read", "[standby][hot-standby]") {
  Simulation simulation{10};
  simulation.run([] {
    Bank bank{10};
    Random random{10};
    while (!bank.transfer(random)) continue;
    bank.send();
    bank.standby.reset();
    bank.other.crash(10);
    // As after a copy: it has to come to the end of its log before it is read.
    REQUIRE(bank.other.remove(kOtherHome / "standby-redo"));
    bank.standby = Standby::open(bank.other, kOtherHome).value();
    REQUIRE(bank.standby->durable() == bank.primary->logical_log().durable());
    REQUIRE(bank.standby->redo_some().value());
    CHECK(bank.standby->replayed() == bank.standby->durable());
    bank.open_engine();
    CHECK(bank.look().commits == 1);
  });
}

TEST_CASE("an old primary is read as it is once it was closed in good order, and not after a crash",
          "[standby][hot-standby]") {
  Simulation simulation{9};
  simulation.run([] {
    Bank bank{9};
    Random random{9};
    for (int i = 0; i < 20; ++i) bank.transfer(random);
    REQUIRE(bank.primary->close());
    bank.primary.reset();
    bank.standby = valued(Standby::open(bank.disk, kHome), "the closed directory");
    bank.open_engine();
    const Bank::Seen closed = bank.look();
    CHECK(closed.sum == kAccounts * kEach);
    CHECK(closed.commits > 0);
    bank.engine.reset();
    bank.standby->forget_engine();
    REQUIRE(bank.standby->promote());
    bank.standby.reset();

    // Stopped anew, and then left without a stop: the control file still speaks of the first one.
    for (const bool is_closed : {true, false}) {
      bank.primary =
          valued(Engine::open(bank.disk, kHome, options_of(PoolMode::swizzling)), "the promoted");
      while (!bank.transfer(random)) continue;
      if (is_closed) REQUIRE(bank.primary->close());
      bank.primary.reset();
    }
    bank.standby = valued(Standby::open(bank.disk, kHome), "the crashed directory");
    const auto opened = bank.standby->open_engine(options_of(PoolMode::swizzling), {});
    REQUIRE(!opened);
    CHECK(opened.error().state() == sqlstate::object_not_in_prerequisite_state);
  });
}

TEST_CASE("an engine goes on through a promotion, and those who wait at its gate with it",
          "[standby][hot-standby]") {
  Simulation simulation{7};
  simulation.run([] {
    Bank bank{7};
    bank.follow_and_open();
    Random random{7};
    while (!bank.transfer(random)) {
    }
    // One that is open at the promotion is undone by it.
    const auto loser = bank.primary->begin();
    loser->begin_statement();
    REQUIRE(bank.primary->tree(bank.tree)
                .value()
                .update(*loser, as_bytes("commits"), as_bytes(balance(77, 0)))
                .value());
    bank.primary->logical_log().flush();
    bank.send();
    // A reader that stays for too long is told to go.
    ReplayGate& gate = *bank.engine->replay_gate();
    REQUIRE(gate.enter());
    bool is_out = false;
    const auto promotion = Runtime::current().spawn("promotion", [&] {
      bank.standby->keep_readers_out(std::chrono::milliseconds{500});
      CHECK(is_out);
    });
    const TimePoint began = Runtime::current().now();
    while (bank.cancels == 0)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{5});
    CHECK(Runtime::current().now() - began >= std::chrono::milliseconds{500});
    CHECK(Runtime::current().now() - began < std::chrono::seconds{1});
    is_out = true;
    gate.leave();
    promotion->join();
    bool is_in = false;
    const auto reader = Runtime::current().spawn("reader", [&] {
      REQUIRE(gate.enter());
      is_in = true;
      CHECK(!bank.engine->is_standby());
      const auto transaction = bank.engine->begin();
      CHECK(bank.look(*transaction).commits == 1);
      gate.leave();
    });
    bank.engine->close_for_promotion();
    bank.standby->forget_engine();
    REQUIRE(bank.standby->promote());
    bank.standby.reset();
    CHECK(bank.engine->is_standby());
    // A failure leaves it closed.
    const auto options = options_of(PoolMode::swizzling);
    CHECK(!bank.engine->open_promoted(bank.other, kOtherHome, options, [] {
      return Result<>{fail(sqlstate::internal_error, "not now")};
    }));
    CHECK(bank.engine->is_standby());
    REQUIRE(bank.engine->open_promoted(bank.other, kOtherHome, options, [&] {
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{50});
      CHECK(!is_in);
      return Result<>{};
    }));
    CHECK(bank.engine->replay_gate() == nullptr);
    reader->join();
    CHECK(is_in);
    const auto writer = bank.engine->begin();
    writer->begin_statement();
    REQUIRE(bank.engine->tree(bank.tree)
                .value()
                .update(*writer, as_bytes("commits"), as_bytes(balance(2, 0)))
                .value());
    REQUIRE(writer->commit());
    const auto transaction = bank.engine->begin(Isolation::repeatable_read, Access::read_only);
    CHECK(bank.look(*transaction).commits == 2);
    transaction->rollback();
    CHECK(bank.engine->verify().value().empty());
    loser->rollback();
  });
}
