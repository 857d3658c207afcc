// Power cuts at any write, sync or change of names, under several sessions, with an oracle outside
// of the engine.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/invariant.h"
#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/bulk_changes.h"
#include "storage/engine.h"
#include "storage/testing/database_home.h"
#include "storage/txn/restart/restart_losers.h"

namespace swizzle {
namespace {

constexpr int kSessions = 3;
using test::kHome;

using Content = std::map<std::string, std::string>;

/// Acknowledged commits of each session. Sessions have keys of their own, spread over the same
/// leaves of two trees, so each has its own expected content: the acknowledged changes and, if a
/// commit was in progress at the power cut, also the content with that commit.
struct CommitOracle {
  std::array<std::array<Content, kSessions>, 2> committed;
  std::array<std::optional<std::array<Content, 2>>, kSessions> in_doubt;
  std::array<TreeId, 2> trees{};
  std::uint64_t acknowledged = 0;

  void record_outcome(int session, std::array<Content, 2> after) {
    for (std::size_t tree = 0; tree < 2; ++tree)
      committed[tree][static_cast<std::size_t>(session)] = std::move(after[tree]);
    in_doubt[static_cast<std::size_t>(session)].reset();
  }
};

EngineOptions crash_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{400} << 10U;
  return options;
}

/// Runs one session's transactions until the power cut.
class Session {
 public:
  Session(Engine& engine, CommitOracle& oracle, int number, std::uint64_t seed)
      : engine_(engine), oracle_(oracle), number_(number), random_(seed) {}

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) run_transaction();
  }

 private:
  std::string key() {
    return "key " + std::to_string(random_.below(150) * kSessions + static_cast<unsigned>(number_));
  }
  std::string value() {
    return std::string(random_.one_in(30) ? 3000 + random_.below(9000) : random_.below(200),
                       static_cast<char>('a' + random_.below(26)));
  }
  void run_transaction() {
    std::array<Content, 2> after;
    for (std::size_t tree = 0; tree < 2; ++tree)
      after[tree] = oracle_.committed[tree][static_cast<std::size_t>(number_)];
    const auto transaction = engine_.begin();
    for (std::uint64_t i = random_.between(1, 8); i > 0; --i) {
      const auto before = after;
      const Transaction::Mark mark = transaction->mark();
      change(*transaction, after);
      if (random_.one_in(6)) {
        INVARIANT(transaction->rollback_to(mark).has_value());
        after = before;
      }
    }
    if (random_.one_in(5)) {
      transaction->rollback();
      return;
    }
    oracle_.in_doubt[static_cast<std::size_t>(number_)] = after;
    INVARIANT(transaction->commit().has_value());
    ++oracle_.acknowledged;
    oracle_.record_outcome(number_, std::move(after));
  }
  void change(Transaction& transaction, std::array<Content, 2>& after) {
    const std::size_t which = random_.below(2);
    Tree tree = engine_.tree(oracle_.trees[which]).value();
    Content& content = after[which];
    const std::string k = key();
    const std::string v = value();
    // Remove rarely enough that there are runs of neighbouring keys.
    switch (random_.below(10)) {
      case 2:
        remove_stretch(transaction, tree, content, k);
        break;
      case 0:
        INVARIANT(tree.remove(transaction, as_bytes(k)).value() == (content.erase(k) == 1));
        break;
      case 1:
        INVARIANT(tree.update(transaction, as_bytes(k), as_bytes(v)).value() ==
                  content.contains(k));
        if (content.contains(k)) content[k] = v;
        break;
      default:
        INVARIANT(tree.insert(transaction, as_bytes(k), as_bytes(v)).value() ==
                  content.try_emplace(k, v).second);
    }
  }

  /// Removes a run of keys. Those in one leaf are removed with one log record, beside others' keys
  /// that stay.
  void remove_stretch(Transaction& transaction, const Tree& tree, Content& content,
                      const std::string& from) {
    std::vector<std::string> keys;
    for (auto at = content.lower_bound(from); at != content.end() && keys.size() < 5; ++at)
      keys.push_back(at->first);
    std::vector<Removal> removals;
    for (const std::string& key : keys) removals.push_back({as_bytes(key), std::nullopt});
    for (std::span<const Removal> left{removals}; !left.empty();) {
      std::size_t done = remove_first(tree, transaction, left).value();
      // Check large values.
      if (done == 0) {
        Tree alone = tree;
        INVARIANT(alone.remove(transaction, left.front().key).value());
        done = 1;
      }
      left = left.subspan(done);
    }
    for (const std::string& key : keys) content.erase(key);
  }

  Engine& engine_;
  CommitOracle& oracle_;
  int number_;
  Random random_;
};

/// Reads all rows, decides the commits in doubt, and reports errors.
void check_commits(Engine& engine, CommitOracle& oracle) {
  const auto reader = engine.begin();
  std::array<Content, 2> found;
  for (std::size_t tree = 0; tree < 2; ++tree) {
    Cursor cursor = engine.tree(oracle.trees[tree]).value().scan(*reader, {}).value();
    while (cursor.next().value())
      found[tree].emplace(as_text(cursor.key()), as_text(cursor.value()));
  }
  std::array<std::array<Content, 2>, kSessions> by_session;
  for (std::size_t tree = 0; tree < 2; ++tree)
    for (const auto& [key, value] : found[tree])
      by_session[std::stoul(key.substr(4)) % kSessions][tree].emplace(key, value);
  for (int session = 0; session < kSessions; ++session) {
    const auto s = static_cast<std::size_t>(session);
    const std::array<Content, 2> known{oracle.committed[0][s], oracle.committed[1][s]};
    const bool whole =
        by_session[s] == known || (oracle.in_doubt[s] && by_session[s] == *oracle.in_doubt[s]);
    REQUIRE(whole);
    oracle.record_outcome(session, by_session[s]);
  }
}

/// Opens, checks, and works until the power is cut at the `cut`-th change of the disk (0: never).
bool run(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int transactions,
         CommitOracle& oracle) {
  // Close trees for their losers never, for losers with few rows, and always.
  RestartLosers::most_open_rows = std::array<std::uint64_t, 3>{1024, 3, 0}[seed % 3];
  // Read all losers, or none that changed enough rows of each tree.
  RestartLosers::most_read_bytes = seed % 2 == 0 ? UINT64_MAX : 0;
  Simulation simulation{seed};
  return simulation.run([&] {
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    auto opened = Engine::open(disk, kHome, crash_options());
    if (!opened) FAIL(opened.error().message());
    const std::unique_ptr<Engine> engine = std::move(*opened);
    check_commits(*engine, oracle);
    // Otherwise the sessions meet losers that are rolled back in the background.
    if (seed % 3 != 0) REQUIRE(engine->verify().value().empty());
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < kSessions; ++i)
      tasks.push_back(Runtime::current().spawn("session " + std::to_string(i), [&, i] {
        Session(*engine, oracle, i, seed * 100 + static_cast<unsigned>(i)).run(transactions);
      }));
    for (const auto& task : tasks) task->join();
    if (seed % 2 == 0) REQUIRE(engine->close());
  }) == Simulation::Outcome::stopped;
}

void create_for_crashes(SimulatedDisk& disk, CommitOracle& oracle) {
  REQUIRE(Engine::create(disk, kHome, crash_options()));
  REQUIRE(disk.sync_directory("/"));
  Simulation simulation{1};
  simulation.run([&] {
    auto engine = Engine::open(disk, kHome, crash_options()).value();
    auto transaction = engine->begin();
    for (TreeId& tree : oracle.trees) tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    transaction.reset();
    REQUIRE(engine->close());
  });
}

}  // namespace

TEST_CASE("P10 P24 P25 P33 whatever the power interrupts, what was acknowledged is there",
          "[storage][engine][crash]") {
  struct Totals {
    std::uint64_t cuts;
    std::uint64_t opened;
    std::uint64_t acknowledged;
  };
  const auto totals = for_seeds_apart<Totals>(60, 10, [&](std::uint64_t seed, Totals& total) {
    Random random{seed};
    SimulatedDisk disk{seed};
    CommitOracle oracle;
    create_for_crashes(disk, oracle);
    for (std::uint64_t depth = 0; depth < 5; ++depth) {
      const std::uint64_t cut = random.between(1, depth % 2 == 0 ? 500 : 40);
      total.cuts += run(disk, seed * 10 + depth, cut, 25, oracle) ? 1U : 0U;
      disk.crash(seed * 10 + depth);
      ++total.opened;
    }
    REQUIRE_FALSE(run(disk, seed * 10 + 8, 0, 3, oracle));
    total.acknowledged += oracle.acknowledged;
  });
  WARN(totals.cuts << " power cuts, " << totals.acknowledged << " acknowledged commits");
  CHECK(totals.cuts * 3 > totals.opened);
}

}  // namespace swizzle
