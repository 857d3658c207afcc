// Parents and children with many writers, every action and deferral, at every level: no order of
// changes leaves a child without its parent.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr std::uint64_t kParents = 6;
constexpr std::uint64_t kChildren = 12;

/// A parent table p and a child table c, by number.
struct Family {
  const char* column;  ///< column of the parent to which children refer
  const char* rules;
};
constexpr Family kFamilies[] = {
    {"id", ""},
    {"id", "ON DELETE RESTRICT ON UPDATE RESTRICT"},
    {"id", "ON DELETE CASCADE ON UPDATE CASCADE"},
    {"id", "ON DELETE SET NULL ON UPDATE SET NULL"},
    {"id", "ON DELETE SET DEFAULT ON UPDATE SET DEFAULT"},
    {"id", "DEFERRABLE INITIALLY DEFERRED"},
    {"id", "ON DELETE SET DEFAULT ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED"},
    {"u", "ON DELETE CASCADE"},
    {"u", "ON UPDATE CASCADE DEFERRABLE"},
};

std::string table(char kind, std::size_t family) {
  return kind + std::to_string(family);
}

void create_families(TestDatabase& db) {
  for (std::size_t i = 0; i < std::size(kFamilies); ++i) {
    const std::string p = table('p', i);
    const std::string c = table('c', i);
    db.run("CREATE TABLE " + p + "(id int PRIMARY KEY, u int UNIQUE, v int)");
    db.run("CREATE TABLE " + c + "(id int PRIMARY KEY, p int DEFAULT 1 REFERENCES " + p + "(" +
           kFamilies[i].column + ") " + kFamilies[i].rules + ")");
    if (i % 2 == 0) db.run("CREATE INDEX ON " + c + "(p)");
    db.run("INSERT INTO " + p + " SELECT g, g, 0 FROM generate_series(1, 4) g");
  }
}

std::string orphans(std::size_t family) {
  const std::string column = kFamilies[family].column;
  return "SELECT count(*) FROM " + table('c', family) + " c LEFT JOIN " + table('p', family) +
         " p ON p." + column + " = c.p WHERE c.p IS NOT NULL AND p." + column + " IS NULL";
}

/// Findings of all writers.
struct Findings {
  std::mutex mutex;
  std::string wrong;
  std::uint64_t commits = 0;
  std::uint64_t failures = 0;
};

class Writer {
 public:
  Writer(std::unique_ptr<Session> session, std::uint64_t seed, Findings& findings)
      : session_(std::move(session)), random_(seed), findings_(findings) {
    run("SET deadlock_timeout = '1ms'");
  }

  void work(std::uint64_t transactions) {
    for (std::uint64_t i = 0; i < transactions && wrong_.empty(); ++i) transaction();
    const std::lock_guard hold(findings_.mutex);
    findings_.commits += commits_;
    findings_.failures += failures_;
    if (findings_.wrong.empty()) findings_.wrong = wrong_;
  }

 private:
  bool run(const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session_->simple_query(sql, sink_);
    if (outcome) return true;
    ++failures_;
    const std::string state{outcome.error().state.code()};
    static const std::set<std::string> kExpected{"23001", "23503", "23505", "40001", "40P01"};
    if (!kExpected.contains(state)) wrong_ = sql + ": " + state + " " + outcome.error().message;
    return false;
  }

  std::string number(std::uint64_t below) { return std::to_string(1 + random_.below(below)); }

  void transaction() {
    family_ = random_.below(std::size(kFamilies));
    if (random_.one_in(8)) {
      // Every snapshot satisfies the constraints.
      if (run(orphans(family_)) && sink_.rows.at(0) != "0") {
        wrong_ = sink_.rows.at(0) + " orphans seen in " + table('c', family_);
      }
      return;
    }
    if (random_.one_in(3)) {
      commits_ += run(statement()) ? 1U : 0U;
      return;
    }
    const char* levels[] = {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
    run(std::string{"BEGIN ISOLATION LEVEL "} + levels[random_.below(3)]);
    bool good = true;
    if (random_.one_in(4)) good = run("SET CONSTRAINTS ALL DEFERRED");
    for (std::uint64_t left = random_.between(1, 4); good && left != 0; --left) {
      if (random_.one_in(8)) good = run("SAVEPOINT s") && (run(statement()), run("ROLLBACK TO s"));
      if (good) good = run(statement());
    }
    const bool ends_well = good && !random_.one_in(6);
    if (run(ends_well ? "COMMIT" : "ROLLBACK") && ends_well) ++commits_;
  }

  std::string statement() {
    const std::string p = table('p', family_);
    const std::string c = table('c', family_);
    const std::string parent = number(kParents);
    const std::string other = number(kParents);
    const std::string child = number(kChildren);
    const std::string column = kFamilies[family_].column;
    switch (random_.below(14)) {
      case 0:
      case 1:
        return "INSERT INTO " + p + " VALUES (" + parent + ", " + parent +
               ", 0) ON CONFLICT DO NOTHING";
      case 2:
      case 3:
        return "DELETE FROM " + p + " WHERE id = " + parent;
      case 4:
        return "UPDATE " + p + " SET id = " + other + " WHERE id = " + parent;
      case 5:
        return "UPDATE " + p + " SET u = " + other + " WHERE u = " + parent;
      case 6:
        return "UPDATE " + p + " SET v = v + 1";
      case 7:
      case 8:
        return "INSERT INTO " + c + " VALUES (" + child + ", " + parent +
               ") ON CONFLICT (id) DO UPDATE SET p = EXCLUDED.p";
      case 9:
        return "DELETE FROM " + c + " WHERE p = " + parent;
      case 10:
        return "UPDATE " + c + " SET p = " + parent + " WHERE id = " + child;
      case 11:
        return "UPDATE " + c + " SET p = " + parent + " WHERE p = " + other;
      case 12:
        return "UPDATE " + c + " SET id = " + child + " WHERE id = " + number(kChildren);
      default:
        return "WITH d AS (DELETE FROM " + p + " WHERE " + column + " = " + parent +
               ") DELETE FROM " + c + " WHERE p = " + parent;
    }
  }

  std::unique_ptr<Session> session_;
  Random random_;
  Findings& findings_;
  TestSink sink_;
  std::size_t family_ = 0;
  std::string wrong_;
  std::uint64_t commits_ = 0;
  std::uint64_t failures_ = 0;
};

/// Returns the violations after all writers have ended; empty if there are none.
std::string families_complaint(TestDatabase& db, const Findings& findings) {
  if (!findings.wrong.empty()) return findings.wrong;
  for (std::size_t i = 0; i < std::size(kFamilies); ++i) {
    if (const std::string found = db.run(orphans(i)); found != "0 SELECT 1") {
      return found + ": orphans in " + table('c', i);
    }
    // Indexes and their tables agree.
    for (const std::string& column :
         {"p" + std::to_string(i) + " WHERE u", "c" + std::to_string(i) + " WHERE p"}) {
      const std::string query = "SELECT count(*) FROM " + column + " BETWEEN 0 AND 100";
      db.run("SET enable_indexscan = off");
      db.run("SET enable_indexonlyscan = off");
      const std::string by_table = db.run(query);
      db.run("RESET ALL");
      if (const std::string by_index = db.run(query); by_index != by_table) {
        return query + ": " + by_index + " by the index, " + by_table + " without";
      }
    }
  }
  return {};
}

std::uint64_t transactions_wanted(std::uint64_t by_default) {
  const char* text = std::getenv("SWIZZLE_TRANSACTIONS");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? by_default : std::strtoull(text, nullptr, 0);
}

}  // namespace

// SWIZZLE_TRANSACTIONS sets the total number of transactions.
TEST_CASE("No orphans are left by 16 writers, whatever the constraints' rules",
          "[sql][session][foreign_keys]") {
  constexpr std::uint64_t kWriters = 16;
  TestDatabase db;
  create_families(db);
  for_seeds(1, [&](std::uint64_t seed) {
    Findings findings;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i, session = db.connect()]() mutable {
        Writer{std::move(session), seed * 1000 + i, findings}.work(transactions_wanted(16'000) /
                                                                   kWriters);
      });
    }
    for (std::thread& thread : threads) thread.join();
    INFO("seed " << seed << ", " << findings.commits << " commits, " << findings.failures
                 << " failed statements");
    CHECK(families_complaint(db, findings) == std::string{});
    CHECK(findings.commits > findings.failures / 4);
  });
}

TEST_CASE("No orphans are left in any interleaving of the simulation",
          "[sql][session][foreign_keys][simulation]") {
  for_seeds(12, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    std::string wrong;
    Simulation simulation{seed};
    simulation.run([&] {
      TestDatabase db{disk};
      create_families(db);
      Findings findings;
      std::vector<std::unique_ptr<Task>> tasks;
      for (std::uint64_t i = 0; i < 6; ++i) {
        tasks.push_back(Runtime::current().spawn(
            "writer", [&, i] { Writer{db.connect(), seed * 1000 + i, findings}.work(50); }));
      }
      for (const auto& task : tasks) task->join();
      wrong = families_complaint(db, findings);
    });
    INFO("seed " << seed);
    CHECK(wrong == std::string{});
  });
}
