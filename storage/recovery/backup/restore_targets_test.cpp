// Restores to a time, an LSN, a restore point and a transaction, compared with a model.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/recovery/backup/test_archive.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kArchive;
using test::kBackup;
using test::kHome;
using Bound = RecoveryTarget::Bound;
using Content = std::map<std::string, std::string>;

EngineOptions options_for(SimulatedDisk& disk) {
  return test::archiving_options(disk, std::uint64_t{128} << 10U);
}

/// Fetches from the archive, and from the log of the database itself, which is closed.
wal::RestoreSegment everything(SimulatedDisk& disk) {
  return [&disk](const std::string& name, const std::filesystem::path& target) -> Result<bool> {
    for (const auto& source : {kArchive / name, kHome / "log" / name}) {
      ASSIGN_OR_RETURN(const bool exists, disk.exists(source));
      if (!exists) continue;
      RETURN_IF_ERROR(test::copy_file(disk, source, target));
      return true;
    }
    return false;
  };
}

void pause() {
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + std::chrono::microseconds{3});
}

/// A commit, rollback, preparation or restore point, and the database right after it.
struct Moment {
  enum class Kind : std::uint8_t { commit, rollback, preparation, restore_point } kind;
  TxnId transaction = TxnId::none;
  std::string name = {};
  /// Times right before and right after it.
  std::int64_t before_us = 0;
  std::int64_t after_us = 0;
  /// The durable end of the log after it.
  Lsn end = Lsn::none;
  Content content = {};
  std::set<std::string> prepared = {};
};

/// Runs random transactions, several of them open at a time, each on keys of its own.
class History {
 public:
  History(Engine& engine, TreeId tree, Random& random, Content content = {})
      : engine_(engine), tree_(tree), random_(random), content_(std::move(content)) {}

  void step() {
    Session& session = sessions_[random_.below(sessions_.size())];
    const std::size_t number = static_cast<std::size_t>(&session - sessions_.data());
    switch (random_.below(12)) {
      case 0:
        return make_restore_point();
      case 1:
        return finish_prepared();
      case 2:
      case 3:
        if (session.transaction) return end(session);
        [[fallthrough]];
      default:
        return write(session, number);
    }
  }
  void leave_open() {
    for (Session& session : sessions_) session.transaction.reset();
  }

  std::vector<Moment> moments;

 private:
  struct Session {
    std::unique_ptr<Transaction> transaction;
    std::map<std::string, std::optional<std::string>> changes;
  };
  struct Waiting {
    TxnId id;
    std::size_t session;
    std::map<std::string, std::optional<std::string>> changes;
  };

  void write(Session& session, std::size_t number) {
    if (!session.transaction) session.transaction = engine_.begin();
    session.transaction->begin_statement();
    Tree tree = engine_.tree(tree_).value();
    const std::string key = std::to_string(number) + " " + std::to_string(random_.below(40));
    // Prepared transactions keep their keys locked.
    for (const auto& [gid, waiting] : prepared_)
      if (waiting.session == number) return;
    const std::string value = std::to_string(random_.below(1'000'000)) + std::string(200, 'v');
    if (random_.one_in(4)) {
      if (tree.remove(*session.transaction, as_bytes(key)).value())
        session.changes[key] = std::nullopt;
    } else if (tree.insert(*session.transaction, as_bytes(key), as_bytes(value)).value() ||
               tree.update(*session.transaction, as_bytes(key), as_bytes(value)).value()) {
      session.changes[key] = value;
    }
  }
  void end(Session& session) {
    const TxnId id = session.transaction->id();
    const bool is_writer = id != TxnId::none;
    const auto changes = std::exchange(session.changes, {});
    Moment moment{.kind = Moment::Kind::commit, .transaction = id};
    begin(moment);
    if (random_.one_in(4)) {
      moment.kind = Moment::Kind::rollback;
      session.transaction->rollback();
    } else if (is_writer && random_.one_in(4)) {
      moment.kind = Moment::Kind::preparation;
      const std::string gid = "gid " + std::to_string(++gids_);
      REQUIRE(session.transaction->prepare(gid, {}));
      prepared_[gid] = {id, static_cast<std::size_t>(&session - sessions_.data()), changes};
    } else {
      REQUIRE(session.transaction->commit());
      apply(changes);
    }
    session.transaction.reset();
    if (is_writer) note(moment);
  }
  void finish_prepared() {
    if (prepared_.empty()) return;
    const auto [gid, waiting] = *prepared_.begin();
    Moment moment{.kind = Moment::Kind::commit, .transaction = waiting.id};
    begin(moment);
    const auto taken = engine_.take_prepared(gid).value();
    if (random_.one_in(3)) {
      moment.kind = Moment::Kind::rollback;
      taken->rollback();
    } else {
      REQUIRE(taken->commit());
      apply(waiting.changes);
    }
    prepared_.erase(gid);
    note(moment);
  }
  void make_restore_point() {
    // Few names, so that some are used again.
    Moment moment{.kind = Moment::Kind::restore_point,
                  .name = "point " + std::to_string(random_.below(6))};
    begin(moment);
    const Lsn end = engine_.create_restore_point(moment.name).value();
    REQUIRE(end <= Lsn{engine_.statistics().log_durable});
    note(moment);
  }
  void apply(const std::map<std::string, std::optional<std::string>>& changes) {
    for (const auto& [key, value] : changes) {
      if (value)
        content_[key] = *value;
      else
        content_.erase(key);
    }
  }
  static void begin(Moment& moment) {
    pause();
    moment.before_us = Runtime::current().wall_clock_us();
  }
  void note(Moment moment) {
    moment.after_us = Runtime::current().wall_clock_us();
    engine_.logical_log().flush();
    moment.end = Lsn{engine_.statistics().log_durable};
    moment.content = content_;
    for (const auto& [gid, waiting] : prepared_) moment.prepared.insert(gid);
    moments.push_back(std::move(moment));
    pause();
  }

  Engine& engine_;
  TreeId tree_;
  Random& random_;
  std::array<Session, 3> sessions_;
  std::map<std::string, Waiting> prepared_;
  Content content_;
  int gids_ = 0;
};

void require_moment(SimulatedDisk& disk, const std::filesystem::path& home, TreeId tree,
                    const Moment& expected) {
  const auto opened = Engine::open(disk, home, options_for(disk));
  if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
  Engine& engine = **opened;
  Content found;
  {
    const auto reader = engine.begin();
    Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
    while (cursor.next().value()) found.emplace(as_text(cursor.key()), as_text(cursor.value()));
  }
  const bool is_same = found == expected.content;
  REQUIRE(is_same);
  std::set<std::string> prepared;
  for (const PreparedTransaction& waiting : engine.prepared()) prepared.insert(waiting.gid);
  REQUIRE(prepared == expected.prepared);
  REQUIRE(engine.verify().value() == std::vector<std::string>{});
  REQUIRE(engine.close());
}

/// A database with a history, which is closed, and a backup taken in the middle of it.
struct Past {
  explicit Past(SimulatedDisk& of, std::uint64_t seed) : disk(of), random(seed) {
    REQUIRE(Engine::create(disk, kHome, options_for(disk)));
    REQUIRE(disk.create_directory(kArchive));
    REQUIRE(disk.sync_directory("/"));
    const auto engine = Engine::open(disk, kHome, options_for(disk)).value();
    const auto transaction = engine->begin();
    tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    History history(*engine, tree, random);
    REQUIRE(engine->create_restore_point("before the backup"));
    for (int i = 0; i < 80; ++i) history.step();
    bool is_made = false;
    backup = engine
                 ->back_up(kBackup,
                           [&](const RecoveryProgress& now) {
                             if (now.phase != "backup" || std::exchange(is_made, true)) return;
                             REQUIRE(engine->create_restore_point("during the backup"));
                           })
                 .value();
    REQUIRE(is_made);
    const std::size_t first = history.moments.size();
    while (history.moments.size() < first + 150) history.step();
    history.leave_open();
    REQUIRE(engine->close());
    moments = std::move(history.moments);
    // The last one before the backup's end stands for all before.
    moments.erase(moments.begin(), moments.begin() + static_cast<std::ptrdiff_t>(first) - 1);
  }

  RestoreOutcome restore(const RecoveryTarget& target, const Moment& expected) {
    const std::filesystem::path home = "/restored-" + std::to_string(++restored);
    const auto made = restore_backup(disk, {kBackup}, home, everything(disk), target);
    if (!made) FAIL(made.error().message());
    require_moment(disk, home, tree, expected);
    return *made;
  }
  /// Returns the message.
  std::string refused(const RecoveryTarget& target) {
    const auto made = restore_backup(disk, {kBackup}, "/never", everything(disk), target);
    REQUIRE_FALSE(made);
    REQUIRE(made.error().state() == sqlstate::object_not_in_prerequisite_state);
    REQUIRE_FALSE(disk.exists("/never").value());
    return made.error().message();
  }
  /// Returns the state at a moment's record, without it. A rollback has begun before its record: a
  /// prepared transaction is rolled back to the end then, as any loser.
  [[nodiscard]] const Moment& before(std::size_t at) const {
    return moments[moments[at].kind == Moment::Kind::rollback ? at : at - 1];
  }
  /// Returns the number of a random moment behind the first.
  std::size_t any() { return 1 + random.below(moments.size() - 1); }

  SimulatedDisk& disk;
  Random random;
  TreeId tree{};
  BackupOutcome backup;
  /// The first one is before the backup, the others are after it.
  std::vector<Moment> moments;
  int restored = 0;
};

void to_a_time(Past& past) {
  const std::size_t at = past.any();
  const Moment& moment = past.moments[at];
  const Moment& previous = past.moments[at - 1];
  const RestoreOutcome made = past.restore({.time_us = moment.after_us}, moment);
  past.restore({.time_us = moment.before_us, .bound = Bound::exclusive}, previous);
  if (moment.kind != Moment::Kind::commit) return;
  // The time in the record itself.
  REQUIRE(made.last_commit_us >= moment.before_us);
  REQUIRE(made.last_commit_us <= moment.after_us);
  REQUIRE(made.last_commit == moment.transaction);
  past.restore({.time_us = made.last_commit_us}, moment);
  past.restore({.time_us = made.last_commit_us, .bound = Bound::exclusive}, previous);
}

void to_an_lsn(Past& past) {
  const Moment& moment = past.moments[past.any()];
  const RecoveryTarget target{.lsn = moment.end, .bound = Bound::exclusive};
  REQUIRE(past.restore(target, moment).end == moment.end);
  // The record at the LSN may be that of the next moment, which shows in what was restored.
  if (&moment == &past.moments.back()) return;
  const Moment& next = (&moment)[1];
  if (next.kind == Moment::Kind::rollback || next.kind == Moment::Kind::preparation) return;
  const auto made = restore_backup(past.disk, {kBackup}, "/inclusive", everything(past.disk),
                                   {.lsn = moment.end});
  REQUIRE(made);
  REQUIRE(made->end > moment.end);
  past.restore({.lsn = made->end, .bound = Bound::exclusive},
               made->last_commit == next.transaction ? next : moment);
}

void to_a_restore_point(Past& past) {
  const std::string name = "point " + std::to_string(past.random.below(6));
  const auto point = std::ranges::find_if(past.moments.begin() + 1, past.moments.end(),
                                          [&](const Moment& at) { return at.name == name; });
  if (point == past.moments.end()) return;
  const RestoreOutcome made = past.restore({.restore_point = name}, *point);
  REQUIRE(made.restore_point == name);
  const auto before = past.restore({.restore_point = name, .bound = Bound::exclusive}, *point);
  REQUIRE(before.end < made.end);
}

void to_a_transaction(Past& past) {
  const std::size_t at = past.any();
  const Moment& moment = past.moments[at];
  if (moment.kind != Moment::Kind::commit && moment.kind != Moment::Kind::rollback) return;
  past.restore({.transaction = moment.transaction}, moment);
  past.restore({.transaction = moment.transaction, .bound = Bound::exclusive}, past.before(at));
}

}  // namespace

TEST_CASE("a restore ends at its target, with it or without, and nothing later is there",
          "[backup]") {
  for_seeds(4, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      Past past(disk, seed);
      for (int round = 0; round < 3; ++round) {
        to_a_time(past);
        to_a_restore_point(past);
        to_a_transaction(past);
      }
      to_an_lsn(past);
    });
  });
}

TEST_CASE("a target that backup and archive do not have leaves nothing behind", "[backup]") {
  SimulatedDisk disk{9};
  Simulation simulation{9};
  simulation.run([&] {
    Past past(disk, 9);
    CHECK_THAT(past.refused({.restore_point = "never made"}),
               Contains("before the recovery target, restore point \"never made\""));
    CHECK_THAT(past.refused({.restore_point = "before the backup"}),
               Contains("restore point \"before the backup\""));
    CHECK_THAT(past.refused({.restore_point = "during the backup"}),
               Contains("restore point \"during the backup\", is before the end of the backup"));
    CHECK_THAT(past.refused({.transaction = TxnId{1'000'000}}), Contains("transaction 1000000"));
    const Moment& last = past.moments.back();
    CHECK_THAT(past.refused({.time_us = last.after_us + 86'400'000'000}),
               Contains("before the recovery target, ") && Contains(" UTC"));
    // No commit lies between that time and the backup's end.
    CHECK_THAT(past.refused({.time_us = past.moments.front().after_us}),
               Contains("is before the backup, which began at"));
    CHECK_THAT(past.refused({.lsn = past.backup.begin}), Contains("is before the end"));
    const RestoreOutcome all =
        restore_backup(disk, {kBackup}, "/all", everything(disk), {}).value();
    CHECK_THAT(past.refused({.lsn = all.end}), Contains("before the recovery target, LSN "));
    CHECK(restore_backup(disk, {kBackup}, "/to-end", everything(disk),
                         {.lsn = all.end, .bound = Bound::exclusive})
              ->end == all.end);
    CHECK_THAT(past.refused({.lsn = Lsn{raw(all.end) + 8}, .bound = Bound::exclusive}),
               Contains("before the recovery target"));
    // An archive that fails is no archive that ends.
    int fetched = 0;
    const auto failing = [&](const std::string& name,
                             const std::filesystem::path& target) -> Result<bool> {
      if (++fetched == 3) return fail(sqlstate::io_error, "the archive is away");
      return everything(disk)(name, target);
    };
    CHECK(restore_backup(disk, {kBackup}, "/never", failing, {}).error().message() ==
          "the archive is away");
    CHECK_FALSE(disk.exists("/never").value());
  });
}

TEST_CASE("a restore point has a name of at most 63 bytes, and is in the log when it is made",
          "[backup]") {
  SimulatedDisk disk{3};
  Simulation simulation{3};
  simulation.run([&] {
    REQUIRE(Engine::create(disk, kHome, options_for(disk)));
    REQUIRE(disk.create_directory(kArchive));
    {
      const auto engine = Engine::open(disk, kHome, options_for(disk)).value();
      REQUIRE(engine->back_up(kBackup));
      REQUIRE(engine->create_restore_point(std::string(63, 'n')));
      REQUIRE(engine->create_restore_point(""));
      const auto refused = engine->create_restore_point(std::string(64, 'n'));
      REQUIRE(refused.error().state() == sqlstate::invalid_parameter_value);
      REQUIRE(refused.error().message() ==
              "value too long for restore point (maximum 63 characters)");
      // Not closed, as after a crash.
    }
    const auto restored = restore_backup(disk, {kBackup}, "/restored", everything(disk),
                                         {.restore_point = std::string(63, 'n')});
    REQUIRE(restored);
    REQUIRE(restored->restore_point == std::string(63, 'n'));
    const auto engine = Engine::open(disk, kHome, options_for(disk)).value();
    REQUIRE(engine->close());
  });
}
