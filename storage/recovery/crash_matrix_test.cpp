#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/testing/database_home.h"

using namespace swizzle;

namespace {

using test::kHome;
constexpr std::uint64_t kSessions = 4;
constexpr std::uint64_t kTrees = 3;

/// Rows, by "tree/key".
using Content = std::map<std::string, std::string>;

/// The contents after one session's committed transactions, and after the one whose commit was in
/// progress when the power failed. Sessions write different keys.
struct SessionOracle {
  Content committed;
  std::optional<Content> in_doubt;
};

/// State that outlives the simulations, which power cuts end.
struct Database {
  explicit Database(std::uint64_t seed) : disk(seed) {}
  SimulatedDisk disk;
  std::vector<TreeId> trees;
  std::array<SessionOracle, kSessions> sessions;
};

EngineOptions small_options(Random& random) {
  EngineOptions options;
  options.pool_bytes = random.between(60, 200) * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{512} << 10U;
  options.checkpoint_log_bytes = 150'000;
  options.pool_preload = random.one_in(2);
  return options;
}

std::string some_value(Random& random) {
  // Some values fit the leaf, some go to the overflow tree.
  const std::uint64_t size = random.one_in(12) ? random.below(12'000) : random.below(120);
  return std::string(size, static_cast<char>('a' + random.below(26)));
}

void change_one(Engine& engine, Transaction& transaction, const Database& database,
                std::uint64_t session, Random& random, Content& after) {
  const std::uint64_t which = random.below(kTrees);
  const std::string key = std::to_string(session) + "/" + std::to_string(random.below(150)) +
                          std::string(random.one_in(9) ? random.below(120) : 0, 'k');
  const std::string row = std::to_string(which) + "/" + key;
  const std::string value = some_value(random);
  Tree tree = engine.tree(database.trees[which]).value();
  switch (random.below(4)) {
    case 0:
    case 1:
      if (tree.insert(transaction, as_bytes(key), as_bytes(value)).value()) {
        REQUIRE_FALSE(after.contains(row));
        after[row] = value;
      }
      break;
    case 2:
      if (tree.update(transaction, as_bytes(key), as_bytes(value)).value()) {
        REQUIRE(after.contains(row));
        after[row] = value;
      }
      break;
    default:
      if (tree.remove(transaction, as_bytes(key)).value()) REQUIRE(after.erase(row) == 1);
  }
}

void run_session(Engine& engine, Database& database, std::uint64_t session, Random random,
                 int transactions) {
  SessionOracle& oracle = database.sessions[session];
  for (int i = 0; i < transactions; ++i) {
    auto transaction = engine.begin();
    Content after = oracle.committed;
    for (std::uint64_t steps = random.between(1, 6); steps > 0; --steps)
      change_one(engine, *transaction, database, session, random, after);
    if (random.one_in(6)) {
      transaction->rollback();
      continue;
    }
    oracle.in_doubt = after;
    REQUIRE(transaction->commit());
    oracle.committed = std::move(after);
    oracle.in_doubt.reset();
    if (random.one_in(25)) REQUIRE(engine.checkpoint());
  }
}

Content content_of(Engine& engine, const Database& database) {
  Content found;
  auto transaction = engine.begin();
  for (std::uint64_t which = 0; which < kTrees; ++which) {
    Cursor cursor =
        engine.tree(database.trees[which]).value().scan(*transaction, ScanRange{}).value();
    while (cursor.next().value())
      found.emplace(std::to_string(which) + "/" + std::string{as_text(cursor.key())},
                    as_text(cursor.value()));
  }
  transaction->rollback();
  return found;
}

// Checks that every session's rows are one of the two states that its oracle allows. From now on
// this state is the expected one.
void compare_with_oracle(Engine& engine, Database& database) {
  std::array<Content, kSessions> found;
  for (auto& [row, value] : content_of(engine, database)) {
    const std::size_t session = static_cast<std::size_t>(row.at(row.find('/') + 1) - '0');
    found.at(session).emplace(row, value);
  }
  for (std::uint64_t session = 0; session < kSessions; ++session) {
    SessionOracle& oracle = database.sessions[session];
    const bool allowed = found[session] == oracle.committed ||
                         (oracle.in_doubt && found[session] == *oracle.in_doubt);
    if (!allowed)
      FAIL("session " << session << " finds rows that were never committed, or lost some");
    oracle.committed = std::move(found[session]);
    oracle.in_doubt.reset();
  }
  const auto violations = engine.verify().value();
  if (!violations.empty()) FAIL(violations.front());
}

void create(Database& database, Random& random) {
  REQUIRE(database.disk.create_directory(kHome));
  REQUIRE(database.disk.sync_directory(kHome.parent_path()));
  const EngineOptions options = small_options(random);
  REQUIRE(Engine::create(database.disk, kHome, options));
  auto engine = Engine::open(database.disk, kHome, options).value();
  auto transaction = engine->begin();
  for (std::uint64_t i = 0; i < kTrees; ++i)
    database.trees.push_back(engine->create_tree(*transaction).value());
  REQUIRE(transaction->commit());
  transaction.reset();
  REQUIRE(engine->close());
}

// Opens the database, checks it, works, and closes it or is killed, unless the power fails first.
// Returns true if the power did not fail.
bool live(Database& database, std::uint64_t seed, std::uint64_t cut, int transactions) {
  Simulation simulation{seed};
  return simulation.run([&] {
    Random random{seed};
    if (cut != 0) database.disk.cut_power_at(DiskOperation::change, cut);
    auto opened = Engine::open(database.disk, kHome, small_options(random));
    if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
    Engine& engine = **opened;
    compare_with_oracle(engine, database);
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::uint64_t session = 0; session < kSessions; ++session) {
      tasks.push_back(Runtime::current().spawn("session", [&, session, own = random.split()] {
        run_session(engine, database, session, own, transactions);
      }));
    }
    for (auto& task : tasks) task->join();
    if (random.one_in(2)) REQUIRE(engine.close());
  }) == Simulation::Outcome::stopped;
}

}  // namespace

TEST_CASE("the engine under sessions, power cut anywhere, also while it recovers",
          "[engine][crash]") {
  std::uint64_t cuts = 0;
  std::uint64_t databases = 0;
  for_seeds(6, [&](std::uint64_t seed) {
    ++databases;
    Random random{seed};
    Database database{seed};
    create(database, random);
    for (std::uint64_t life = 0; life < 4; ++life) {
      const std::uint64_t cut = random.between(1, life % 2 == 0 ? 400 : 60);
      cuts += live(database, seed * 100 + life, cut, 25) ? 1U : 0U;
      database.disk.crash(seed * 100 + life);
    }
    REQUIRE_FALSE(live(database, seed * 100 + 50, 0, 5));
    database.disk.crash(seed * 100 + 50);
    REQUIRE_FALSE(live(database, seed * 100 + 51, 0, 1));
  });
  WARN(cuts << " power cuts");
  REQUIRE(cuts >= databases);
}
