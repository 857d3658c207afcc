// CREATE INDEX, REINDEX and DROP INDEX CONCURRENTLY beside writers: the index has exactly the
// entries of the table's rows, in every snapshot that reads it, also after power cuts.
#include "sql-lite-frontend/session/tests/index_beside_writers.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr std::uint64_t kManyValues = 1'000'000;
constexpr std::uint64_t kFewValues = 400;

struct BuildCounts {
  std::uint64_t commits = 0;
  std::uint64_t valid = 0;
  std::uint64_t conflicts = 0;
};

/// Builds, rebuilds and drops indexes, and compares them with the table.
class IndexBuilder {
 public:
  IndexBuilder(TestDatabase& db, std::unique_ptr<Session> session, std::uint64_t seed)
      : db_(db), session_(std::move(session)), random_(seed) {}

  void work(int rounds) {
    for (int i = 0; i < rounds && wrong.empty(); ++i) round();
  }

  std::string wrong;
  BuildCounts counts;

 private:
  void round() {
    const std::vector<IndexKind> kinds = index_kinds();
    const IndexKind& kind = kinds[random_.below(kinds.size())];
    const std::string created = run("CREATE " + kind.definition);
    if (kind.is_unique && created.starts_with("23505")) {
      ++counts.conflicts;
      if (state() != "d") wrong = "an index with repeated keys is " + state();
      run(random_.one_in(2) ? "DROP INDEX i" : "DROP INDEX CONCURRENTLY i");
      return;
    }
    if (created != "CREATE INDEX") wrong = kind.definition + ": " + created;
    compare(kind);
    const std::string rebuilt = run("REINDEX INDEX CONCURRENTLY i");
    if (rebuilt != "REINDEX" && wrong.empty()) wrong = "REINDEX: " + rebuilt;
    compare(kind);
    const std::string dropped = run("DROP INDEX CONCURRENTLY i");
    if (dropped != "DROP INDEX" && wrong.empty()) wrong = "DROP INDEX: " + dropped;
  }
  void compare(const IndexKind& kind) {
    if (!wrong.empty()) return;
    if (state() != "v") wrong = "the index is " + state();
    if (wrong.empty()) wrong = complaint_of_index(db_, *session_, kind.queries);
    ++counts.valid;
  }
  std::string state() { return state_of_index(db_, *session_); }
  /// Runs it again where it was a deadlock's victim: it changes nothing then but for an index that
  /// is not valid.
  std::string run(const std::string& sql) { return db_.run(*session_, sql); }

  TestDatabase& db_;
  std::unique_ptr<Session> session_;
  Random random_;
};

/// Runs writers beside a builder until it has done its rounds.
void build_beside_writers(TestDatabase& db, std::uint64_t seed, int rounds, BuildCounts& counts) {
  const std::uint64_t values = seed % 2 == 0 ? kManyValues : kFewValues;
  IndexBuilder builder{db, db.connect(), seed};
  std::vector<std::unique_ptr<RandomWriter>> writers;
  for (std::uint64_t i = 0; i < 4; ++i)
    writers.push_back(std::make_unique<RandomWriter>(db.connect(), seed * 10 + i, values));
  std::atomic<bool> is_over{false};
  std::vector<std::unique_ptr<Task>> tasks;
  for (const auto& writer : writers) {
    tasks.push_back(Runtime::current().spawn("writer", [&is_over, one = writer.get()] {
      while (!is_over && one->wrong.empty()) one->transaction();
    }));
  }
  builder.work(rounds);
  is_over = true;
  for (const auto& task : tasks) task->join();
  INFO("seed " << seed);
  REQUIRE(builder.wrong == std::string{});
  for (const auto& writer : writers) {
    REQUIRE(writer->wrong == std::string{});
    counts.commits += writer->commits;
  }
  counts.valid += builder.counts.valid;
  counts.conflicts += builder.counts.conflicts;
}

}  // namespace

TEST_CASE("An index built beside writers has the entries of all rows and no others",
          "[sql][session][simulation][concurrently]") {
  const auto all = for_seeds_apart<BuildCounts>(24, 4, [](std::uint64_t seed, BuildCounts& counts) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      TestDatabase db{disk};
      create_indexed(db);
      build_beside_writers(db, seed, 3, counts);
      if (const std::string found = db.run("SELECT swizzle_verify()"); found != " SELECT 1")
        FAIL(found);
    });
  });
  CHECK(all.commits > 300);
  CHECK(all.valid > 60);
  CHECK(all.conflicts > 0);
}

TEST_CASE("An index built beside writers on threads has the entries of all rows",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_indexed(db);
  BuildCounts counts;
  build_beside_writers(db, 2 * test_seed(), 12, counts);
  CHECK(counts.commits > 100);
  CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
}

namespace {

/// Runs index statements of one session while another one runs some on the same index.
class RivalBuilder {
 public:
  RivalBuilder(TestDatabase& db, std::uint64_t seed) : session_(db.connect()), random_(seed) {
    run("SET deadlock_timeout = '1ms'");
  }

  void statement() {
    static constexpr std::array<const char*, 9> kStatements{
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON t (a)",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON t USING gin (words)",
        "DROP INDEX CONCURRENTLY IF EXISTS i",
        "DROP INDEX CONCURRENTLY i",
        "DROP INDEX CONCURRENTLY IF EXISTS i_ccnew",
        "DROP INDEX IF EXISTS i",
        "REINDEX INDEX CONCURRENTLY i",
        "REINDEX INDEX i",
        "REINDEX TABLE CONCURRENTLY t"};
    if (run(kStatements[random_.below(kStatements.size())])) ++done;
    // An index that another session is dropping may be valid for a while.
    if (run("SELECT swizzle_verify('t')") && sink_.rows != std::vector<std::string>{""})
      wrong = sink_.rows.front();
    if (random_.one_in(4)) run("DROP INDEX CONCURRENTLY IF EXISTS i_ccold");
  }

  std::uint64_t done = 0;
  std::string wrong;

 private:
  bool run(const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session_->simple_query(sql, sink_);
    if (outcome) return true;
    static const std::set<std::string> kExpected{"42704", "42P01", "40P01", "55000", "42P07"};
    if (!kExpected.contains(std::string{outcome.error().state.code()}))
      wrong =
          sql + ": " + std::string{outcome.error().state.code()} + " " + outcome.error().message;
    return false;
  }

  std::unique_ptr<Session> session_;
  Random random_;
  TestSink sink_;
};

}  // namespace

TEST_CASE("Sessions that build, rebuild and drop one index at once leave it right, or not valid",
          "[sql][session][simulation][concurrently]") {
  struct Counts {
    std::uint64_t done = 0;
    std::uint64_t commits = 0;
  };
  const auto all = for_seeds_apart<Counts>(24, 4, [](std::uint64_t seed, Counts& counts) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      TestDatabase db{disk};
      create_indexed(db);
      RandomWriter writer{db.connect(), seed * 10, kManyValues};
      std::vector<std::unique_ptr<RivalBuilder>> rivals;
      for (std::uint64_t i = 0; i < 3; ++i)
        rivals.push_back(std::make_unique<RivalBuilder>(db, seed * 10 + i));
      std::vector<std::unique_ptr<Task>> tasks;
      for (const auto& rival : rivals) {
        tasks.push_back(Runtime::current().spawn("rival", [one = rival.get()] {
          for (int i = 0; i < 20 && one->wrong.empty(); ++i) one->statement();
        }));
      }
      tasks.push_back(Runtime::current().spawn("writer", [&writer] {
        for (int i = 0; i < 60 && writer.wrong.empty(); ++i) writer.transaction();
      }));
      for (const auto& task : tasks) task->join();
      INFO("seed " << seed);
      REQUIRE(writer.wrong == std::string{});
      counts.commits += writer.commits;
      for (const auto& rival : rivals) {
        REQUIRE(rival->wrong == std::string{});
        counts.done += rival->done;
      }
      REQUIRE(db.run("SELECT swizzle_verify()") == " SELECT 1");
    });
  });
  CHECK(all.done > 200);
  CHECK(all.commits > 300);
}

namespace {

/// Runs one statement of the builder beside writers until the power is cut.
void build_until_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut,
                     const std::string& statement) {
  Simulation simulation{seed};
  simulation.run([&] {
    TestDatabase db{disk, TestDatabase::Existing{std::uint64_t{4} << 20U}};
    std::vector<std::unique_ptr<RandomWriter>> writers;
    for (std::uint64_t i = 0; i < 3; ++i)
      writers.push_back(std::make_unique<RandomWriter>(db.connect(), seed * 10 + i, kManyValues));
    const std::unique_ptr<Session> builder = db.connect();
    disk.cut_power_at(DiskOperation::change, cut);
    std::vector<std::unique_ptr<Task>> tasks;
    for (const auto& writer : writers) {
      tasks.push_back(Runtime::current().spawn("writer", [one = writer.get()] {
        for (int i = 0; i < 60 && one->wrong.empty(); ++i) one->transaction();
      }));
    }
    db.run(*builder, statement);
    for (const auto& task : tasks) task->join();
    disk.cut_power();
  });
}

struct CutCounts {
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  std::uint64_t absent = 0;
};

/// After a restart: whatever the state of the index, its answers and the writers' are right, and it
/// can be rebuilt or dropped.
void check_after_cut(TestDatabase& db, std::uint64_t seed, const IndexKind& kind,
                     CutCounts& counts) {
  Session& session = db.session();
  const std::string state = state_of_index(db, session);
  INFO("seed " << seed << " " << kind.definition << ", state " << state);
  REQUIRE(db.run("SELECT swizzle_verify()") == " SELECT 1");
  RandomWriter writer{db.connect(), seed, kManyValues};
  for (int i = 0; i < 20; ++i) writer.transaction();
  REQUIRE(writer.wrong == std::string{});
  if (state.empty()) {
    ++counts.absent;
    REQUIRE(db.run("CREATE " + kind.definition) == "CREATE INDEX");
  } else if (state == "v") {
    ++counts.valid;
  } else {
    ++counts.invalid;
    REQUIRE(db.run(seed % 2 == 0 ? "REINDEX INDEX i" : "REINDEX INDEX CONCURRENTLY i") ==
            "REINDEX");
  }
  REQUIRE(complaint_of_index(db, session, kind.queries) == std::string{});
  for (const auto* left : {"i_ccnew", "i_ccold"}) {
    if (!state_of_index(db, session, left).empty())
      REQUIRE(db.run(std::string{"DROP INDEX "} + left) == "DROP INDEX");
  }
  REQUIRE(db.run("DROP INDEX CONCURRENTLY i") == "DROP INDEX");
  REQUIRE(db.run("SELECT swizzle_verify()") == " SELECT 1");
}

}  // namespace

TEST_CASE(
    "An index whose build, rebuilding or removal a power cut ends says so, and can be rebuilt",
    "[sql][session][simulation][crash][concurrently]") {
  const auto all = for_seeds_apart<CutCounts>(30, 5, [](std::uint64_t seed, CutCounts& counts) {
    const std::vector<IndexKind> kinds = index_kinds();
    const IndexKind& kind = kinds[seed % kinds.size()];
    SimulatedDisk disk{seed};
    Simulation{seed}.run([&] {
      TestDatabase db{disk};
      create_indexed(db);
      if (seed % 3 != 0) db.run("CREATE " + kind.definition);
    });
    disk.sync_everything();
    const std::string statement = seed % 3 == 0   ? "CREATE " + kind.definition
                                  : seed % 3 == 1 ? "REINDEX INDEX CONCURRENTLY i"
                                                  : "DROP INDEX CONCURRENTLY i";
    Random random{seed};
    build_until_cut(disk, seed, random.between(3, 120), statement);
    disk.crash(seed);
    Simulation{seed + 1}.run([&] {
      TestDatabase db{disk, TestDatabase::Existing{std::uint64_t{4} << 20U}};
      check_after_cut(db, seed, kind, counts);
    });
  });
  CHECK(all.valid > 0);
  CHECK(all.invalid > 0);
  CHECK(all.absent > 0);
}
