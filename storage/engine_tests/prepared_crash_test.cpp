// Power cuts at any write, sync or change of names while transactions are prepared and finished:
// each acknowledged preparation is there with its locks, and none in part.
#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "base/invariant.h"
#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

constexpr std::size_t kPreparers = 3;
using test::kHome;
using Rows = std::map<std::string, std::string>;

/// Answers that a session received. It has keys of its own.
struct PreparerOracle {
  enum class Stage : std::uint8_t {
    none,
    committing,  ///< in one phase
    preparing,
    prepared,
    finishing_by_commit,
    finishing_by_rollback,
  };
  Stage stage = Stage::none;
  Rows committed;
  Rows after;  ///< content if the operation in progress commits
  std::uint64_t kept_over_restarts = 0;

  void record_outcome(Rows now) {
    committed = std::move(now);
    after.clear();
    stage = Stage::none;
  }
};

struct PreparedOracle {
  std::array<PreparerOracle, kPreparers> sessions;
  TreeId tree{};
  std::uint64_t finished = 0;
};

std::string gid_of(std::size_t session) {
  return "prepared by " + std::to_string(session);
}

EngineOptions prepared_crash_options(std::uint64_t seed) {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{300} << 10U;
  if (seed % 3 == 0) options.row_lock_limit = 3;
  return options;
}

class Preparer {
 public:
  Preparer(Engine& engine, PreparedOracle& oracle, std::size_t number, std::uint64_t seed)
      : engine_(engine),
        oracle_(oracle),
        own_(oracle.sessions.at(number)),
        number_(number),
        random_(seed) {}

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) {
      if (own_.stage == PreparerOracle::Stage::prepared) {
        // Sometimes keep it prepared for long, while others work.
        if (random_.one_in(4)) continue;
        finish();
      }
      run_transaction();
      if (random_.one_in(20)) INVARIANT(engine_.checkpoint().has_value());
    }
  }

 private:
  void run_transaction() {
    own_.after = own_.committed;
    auto transaction = engine_.begin();
    for (std::uint64_t left = random_.between(1, 12); left > 0; --left) {
      const Rows before = own_.after;
      const Transaction::Mark mark = transaction->mark();
      change(*transaction);
      if (!random_.one_in(6)) continue;
      INVARIANT(transaction->rollback_to(mark).has_value());
      own_.after = before;
    }
    if (random_.one_in(4)) {
      own_.stage = PreparerOracle::Stage::committing;
      INVARIANT(transaction->commit().has_value());
      own_.record_outcome(own_.after);
      return;
    }
    own_.stage = PreparerOracle::Stage::preparing;
    INVARIANT(transaction->prepare(gid_of(number_), as_bytes("note")).has_value());
    own_.stage = PreparerOracle::Stage::prepared;
  }

  void finish() {
    const auto taken = engine_.take_prepared(gid_of(number_)).value();
    ++oracle_.finished;
    if (random_.one_in(2)) {
      own_.stage = PreparerOracle::Stage::finishing_by_commit;
      INVARIANT(taken->commit().has_value());
      own_.record_outcome(own_.after);
    } else {
      own_.stage = PreparerOracle::Stage::finishing_by_rollback;
      taken->rollback();
      own_.record_outcome(own_.committed);
    }
  }

  void change(Transaction& transaction) {
    Tree tree = engine_.tree(oracle_.tree).value();
    Rows& rows = own_.after;
    // Interleave the sessions' keys, so that they share leaves.
    const std::string key =
        "key " + std::to_string(random_.below(120) * kPreparers + static_cast<unsigned>(number_));
    const std::string value(random_.one_in(25) ? 3000 + random_.below(9000) : random_.below(200),
                            static_cast<char>('a' + random_.below(26)));
    if (!rows.contains(key)) {
      INVARIANT(tree.insert(transaction, as_bytes(key), as_bytes(value)).value());
      rows[key] = value;
    } else if (random_.one_in(4)) {
      INVARIANT(tree.remove(transaction, as_bytes(key)).value());
      rows.erase(key);
    } else {
      INVARIANT(tree.update(transaction, as_bytes(key), as_bytes(value)).value());
      rows[key] = value;
    }
  }

  Engine& engine_;
  PreparedOracle& oracle_;
  PreparerOracle& own_;
  const std::size_t number_;
  Random random_;
};

std::array<Rows, kPreparers> rows_of_sessions(Transaction& reader, const Tree& tree) {
  std::array<Rows, kPreparers> found;
  Cursor cursor = tree.scan(reader, {}).value();
  while (cursor.next().value()) {
    const std::string key{as_text(cursor.key())};
    found.at(std::stoul(key.substr(4)) % kPreparers).emplace(key, as_text(cursor.value()));
  }
  return found;
}

/// Checks that the prepared transaction has its changes locked, and sees them.
void check_waiting(Engine& engine, const PreparedOracle& oracle, std::size_t number) {
  const PreparerOracle& own = oracle.sessions.at(number);
  Rows differing;
  std::ranges::set_symmetric_difference(own.committed, own.after,
                                        std::inserter(differing, differing.end()));
  const Tree tree = engine.tree(oracle.tree).value();
  for (const auto& [key, value] : differing) {
    const auto other = engine.begin();
    ValueBuffer buffer;
    const auto got =
        tree.get(*other, as_bytes(key), buffer, ReadMode::for_update, WaitPolicy::no_wait);
    REQUIRE_FALSE(got);
    REQUIRE(got.error().state() == sqlstate::lock_not_available);
  }
  const auto taken = engine.take_prepared(gid_of(number)).value();
  REQUIRE(as_text(taken->prepared_as().note) == "note");
  taken->begin_statement();
  REQUIRE(rows_of_sessions(*taken, tree).at(number) == own.after);
}

void check_prepared(Engine& engine, PreparedOracle& oracle) {
  using Stage = PreparerOracle::Stage;
  std::array<bool, kPreparers> is_there{};
  for (const PreparedTransaction& prepared : engine.prepared())
    for (std::size_t number = 0; number < kPreparers; ++number)
      if (prepared.gid == gid_of(number)) is_there.at(number) = true;
  const auto reader = engine.begin();
  const auto found = rows_of_sessions(*reader, engine.tree(oracle.tree).value());
  for (std::size_t number = 0; number < kPreparers; ++number) {
    PreparerOracle& own = oracle.sessions.at(number);
    CAPTURE(number, static_cast<int>(own.stage), is_there.at(number));
    if (is_there.at(number)) {
      REQUIRE(own.stage >= Stage::preparing);
      REQUIRE(found.at(number) == own.committed);
      own.stage = Stage::prepared;
      ++own.kept_over_restarts;
      check_waiting(engine, oracle, number);
      continue;
    }
    REQUIRE(own.stage != Stage::prepared);
    const bool may_be_after =
        own.stage == Stage::committing || own.stage == Stage::finishing_by_commit;
    const bool must_be_after = own.stage == Stage::finishing_by_commit;
    const bool is_before = found.at(number) == own.committed;
    const bool is_after = may_be_after && found.at(number) == own.after;
    REQUIRE((is_after || (is_before && !must_be_after)));
    own.record_outcome(found.at(number));
  }
  REQUIRE(engine.verify().value() == std::vector<std::string>{});
}

bool run_prepared(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int transactions,
                  PreparedOracle& oracle) {
  Simulation simulation{seed};
  return simulation.run([&] {
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    auto opened = Engine::open(disk, kHome, prepared_crash_options(seed));
    if (!opened) FAIL(opened.error().message());
    const std::unique_ptr<Engine> engine = std::move(*opened);
    check_prepared(*engine, oracle);
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::size_t i = 0; i < kPreparers; ++i)
      tasks.push_back(Runtime::current().spawn("session " + std::to_string(i), [&, i] {
        Preparer(*engine, oracle, i, seed * 100 + i).run(transactions);
      }));
    for (const auto& task : tasks) task->join();
    if (seed % 2 == 0) REQUIRE(engine->close());
  }) == Simulation::Outcome::stopped;
}

}  // namespace

TEST_CASE("What was acknowledged as prepared is there after a power cut and locked and whole",
          "[storage][engine][prepared][crash]") {
  struct Totals {
    std::uint64_t cuts;
    std::uint64_t finished;
    std::uint64_t kept;
  };
  const auto totals = for_seeds_apart<Totals>(60, 10, [&](std::uint64_t seed, Totals& total) {
    Random random{seed};
    SimulatedDisk disk{seed};
    PreparedOracle oracle;
    REQUIRE(Engine::create(disk, kHome, prepared_crash_options(1)));
    REQUIRE(disk.sync_directory("/"));
    Simulation simulation{1};
    simulation.run([&] {
      const auto engine = Engine::open(disk, kHome, prepared_crash_options(1)).value();
      auto transaction = engine->begin();
      oracle.tree = engine->create_tree(*transaction).value();
      REQUIRE(transaction->commit());
      transaction.reset();
      REQUIRE(engine->close());
    });
    for (std::uint64_t depth = 0; depth < 6; ++depth) {
      // Cut during the work, and during the recovery.
      const std::uint64_t cut = random.between(1, depth % 2 == 0 ? 400 : 40);
      total.cuts += run_prepared(disk, seed * 10 + depth, cut, 30, oracle) ? 1U : 0U;
      disk.crash(seed * 10 + depth);
    }
    REQUIRE_FALSE(run_prepared(disk, seed * 10 + 8, 0, 3, oracle));
    total.finished += oracle.finished;
    for (const auto& session : oracle.sessions) total.kept += session.kept_over_restarts;
  });
  WARN(totals.cuts << " power cuts, " << totals.kept
                   << " times something prepared was there afterwards, " << totals.finished
                   << " finished");
  CHECK(totals.cuts > 100);
  CHECK(totals.kept > 200);
}

}  // namespace swizzle
