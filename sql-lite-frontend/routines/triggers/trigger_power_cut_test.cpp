// Power cuts while triggers write: afterwards a table and its triggers' records about it agree, and
// a transaction that was not acknowledged is there wholly or not at all.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr std::uint64_t kPoolBytes = std::uint64_t{2} << 20U;

void define(TestDatabase& db) {
  db.run("CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)");
  db.run("CREATE TABLE audit (id int, change int)");
  db.run("CREATE TABLE totals (only_one bool PRIMARY KEY, n bigint, changed int)");
  db.run("INSERT INTO totals VALUES (true, 0, 0)");
  db.run(
      "CREATE FUNCTION audits() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "INSERT INTO audit VALUES (coalesce(new.id, old.id), coalesce(new.n, 0) - coalesce(old.n, "
      "0)); RETURN NULL; END $$");
  db.run(
      "CREATE TRIGGER audits AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION "
      "audits()");
  db.run(
      "CREATE FUNCTION sums() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "UPDATE totals SET n = (SELECT coalesce(sum(n), 0) FROM t), changed = changed + 1; "
      "RETURN NULL; END $$");
  db.run(
      "CREATE TRIGGER sums AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH STATEMENT EXECUTE "
      "FUNCTION sums()");
}

std::string random_change(Random& random) {
  const std::string id = std::to_string(random.below(30));
  switch (random.below(4)) {
    case 0:
      return "DELETE FROM t WHERE id = " + id;
    case 1:
      return "UPDATE t SET n = n + " + id + " WHERE id > " + id;
    default:
      return "INSERT INTO t VALUES (" + id + ", 1), (" + std::to_string(random.between(30, 500)) +
             ", 2) ON CONFLICT (id) DO UPDATE SET n = t.n + 1";
  }
}

void make_tables(SimulatedDisk& disk) {
  Simulation simulation{1};
  simulation.run([&] {
    TestDatabase db{disk};
    define(db);
  });
  disk.sync_everything();
}

/// Counts acknowledged transactions until the power is cut at the `cut`-th change of the disk.
void change_until_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int& acknowledged,
                      std::string& wrong) {
  Simulation simulation{seed};
  simulation.run([&] {
    TestDatabase db{disk, TestDatabase::Existing{kPoolBytes}};
    disk.cut_power_at(DiskOperation::change, cut);
    Random random{seed};
    const auto work = Runtime::current().spawn("client", [&] {
      for (int i = 0; i < 40 && wrong.empty(); ++i) {
        const std::string outcome =
            db.run("BEGIN; " + random_change(random) + "; " + random_change(random) + "; COMMIT");
        if (!outcome.ends_with("COMMIT")) wrong = outcome;
        if (wrong.empty()) ++acknowledged;
      }
    });
    work->join();
    disk.cut_power();
  });
}

/// Returns a disagreement found after the restart; empty if there is none.
std::string disagreement(TestDatabase& db, int acknowledged) {
  if (const std::string found = db.run("SELECT swizzle_verify()"); found != " SELECT 1") {
    return found;
  }
  if (db.run("SELECT count(*) FROM (SELECT id, sum(change) AS n FROM audit GROUP BY id HAVING "
             "sum(change) <> 0) a FULL JOIN t USING (id) WHERE a.n IS DISTINCT FROM t.n") !=
      "0 SELECT 1") {
    return "the rows and what was audited differ";
  }
  if (db.run("SELECT (SELECT n FROM totals) = (SELECT coalesce(sum(n), 0) FROM t)") !=
      "t SELECT 1") {
    return "the rows and their total differ";
  }
  // Two statements of each acknowledged transaction changed it, an ON CONFLICT possibly twice.
  const int changed = std::stoi(db.rows("SELECT changed FROM totals").at(0));
  return changed < 2 * acknowledged ? "acknowledged changes are lost" : "";
}

}  // namespace

TEST_CASE("A table and what its triggers wrote agree after power cuts",
          "[sql][triggers][simulation][crash]") {
  const auto all = for_seeds_apart<int>(6, 3, [&](std::uint64_t seed, int& total) {
    SimulatedDisk disk{seed};
    make_tables(disk);
    Random random{seed};
    int acknowledged = 0;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::string wrong;
      change_until_cut(disk, seed * 10 + round, random.between(5, 300), acknowledged, wrong);
      disk.crash(seed * 10 + round);
      Simulation simulation{seed};
      simulation.run([&] {
        TestDatabase db{disk, TestDatabase::Existing{kPoolBytes}};
        if (wrong.empty()) wrong = disagreement(db, acknowledged);
      });
      INFO("seed " << seed << ", round " << round);
      REQUIRE(wrong == std::string{});
    }
    total += acknowledged;
  });
  CHECK(all > 40);
}
