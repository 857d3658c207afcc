// Inverted indexes (USING gin): queries return the same rows with and without them, in every
// snapshot and after power cuts.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "storage/statistics.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

std::string random_array(Random& random) {
  std::string text;
  for (std::uint64_t left = random.below(5); left != 0; --left) {
    if (!text.empty()) text += ",";
    text += random.one_in(12) ? "NULL" : std::to_string(random.below(12));
  }
  return "'{" + text + "}'::int[]";
}

/// Returns a word. Long ones are stored in the index as a prefix and a hash.
std::string random_word(Random& random) {
  std::string word(1, static_cast<char>('a' + random.below(6)));
  if (random.one_in(8)) word += std::string(300, 'x') + std::to_string(random.below(2));
  return word;
}

std::string random_scalar(Random& random) {
  switch (random.below(5)) {
    case 0:
      return std::to_string(random.below(5)) + (random.one_in(2) ? ".0" : "");
    case 1:
      return random.one_in(2) ? "true" : "null";
    default:
      return "\"" + random_word(random) + "\"";
  }
}

std::string random_json(Random& random, int depth = 3) {
  if (depth == 0 || random.one_in(4)) return random_scalar(random);
  const bool is_object = random.one_in(2);
  std::string text;
  for (std::uint64_t left = random.below(4); left != 0; --left) {
    if (!text.empty()) text += ",";
    if (is_object) text += "\"" + random_word(random) + "\":";
    text += random_json(random, depth - 1);
  }
  return is_object ? "{" + text + "}" : "[" + text + "]";
}

std::string random_words(Random& random) {
  std::string text;
  for (std::uint64_t left = random.below(4); left != 0; --left) {
    text += (text.empty() ? "" : ",") + random_word(random);
  }
  return "'{" + text + "}'";
}

std::string random_query(Random& random, int depth = 2) {
  if (depth == 0 || random.one_in(3)) return random_word(random) + (random.one_in(4) ? ":*" : "");
  if (random.one_in(4)) return "!" + random_query(random, 0);
  constexpr const char* kJoins[] = {" & ", " | ", " <-> "};
  return "(" + random_query(random, depth - 1) + kJoins[random.below(3)] +
         random_query(random, depth - 1) + ")";
}

std::string random_path(Random& random) {
  std::string path = "$";
  for (std::uint64_t left = random.below(3); left != 0; --left) {
    constexpr const char* kSteps[] = {"[*]", ".*", ".**"};
    path += random.one_in(4) ? kSteps[random.below(3)] : ".\"" + random_word(random) + "\"";
  }
  return path;
}

std::string random_path_condition(Random& random) {
  const std::string compared = " == " + random_scalar(random);
  switch (random.below(4)) {
    case 0:
      return "j @? '" + random_path(random) + "'";
    case 1:
      return "j @? '" + random_path(random) + " ? (@" + compared + ")'";
    case 2:
      return "j @@ '" + random_path(random) + compared + " || exists (" + random_path(random) +
             ")'";
    default:
      return "j @@ '" + random_path(random) + compared + "'";
  }
}

std::string random_condition(Random& random) {
  const std::string json = "'" + random_json(random) + "'";
  switch (random.below(14)) {
    case 11:
      return "to_tsvector('simple', j) @@ '" + random_query(random) + "'::tsquery";
    case 12:
    case 13:
      return random_path_condition(random);
    case 0:
      return "a @> " + random_array(random);
    case 1:
      return "a <@ " + random_array(random);
    case 2:
      return "a && " + random_array(random);
    case 3:
      return "a = " + random_array(random);
    case 4:
      return random_array(random) + " <@ a";
    case 5:
      return "j ? '" + random_word(random) + "'";
    case 6:
      return "j ?| " + random_words(random);
    case 7:
      return "j ?& " + random_words(random);
    case 8:
      return json + " <@ j";
    case 9:
      return "j @> " + json + " AND a && " + random_array(random);
    default:
      return "j @> " + json;
  }
}

std::string random_row(Random& random) {
  return random_array(random) + ", '" + random_json(random) + "'";
}

std::string random_change(Random& random) {
  const std::string id = std::to_string(random.below(60));
  switch (random.below(6)) {
    case 0:
      return "DELETE FROM t WHERE id = " + id;
    case 1:
      return fmt::format("UPDATE t SET (a, j) = (SELECT {}::jsonb) WHERE id = {}",
                         random_row(random), id);
    case 2:
      return "UPDATE t SET a = a || " + random_array(random) + " WHERE " + random_condition(random);
    case 3:
      return "UPDATE t SET id = id + 100 WHERE id = " + id;
    default:
      return fmt::format("INSERT INTO t VALUES ({}, {}) ON CONFLICT DO NOTHING", id,
                         random_row(random));
  }
}

constexpr const char* kDefinitions =
    "CREATE TABLE t(id int PRIMARY KEY, a int[], j jsonb);"
    "CREATE INDEX ga ON t USING gin(a);"
    "CREATE INDEX gj ON t USING gin(j);"
    "CREATE INDEX gp ON t USING gin(j jsonb_path_ops) WHERE id >= 10;"
    "CREATE INDEX gt ON t USING gin(to_tsvector('simple', j));"
    "CREATE INDEX gaj ON t USING gin(j, a)";

std::string rows_of(TestDatabase& db, Session& session, const std::string& condition) {
  return db.run(session, "SELECT id, a, j FROM t WHERE " + condition + " ORDER BY id");
}

/// Returns how an index's answer differs from the table's; empty if it does not.
std::string disagreement(TestDatabase& db, Session& session, Random& random) {
  std::string condition = random_condition(random);
  if (random.one_in(3)) condition += " AND id >= 10";
  db.run(session, "SET LOCAL enable_indexscan = off");
  const std::string by_table = rows_of(db, session, condition);
  db.run(session, "SET LOCAL enable_indexscan = on; SET LOCAL enable_seqscan = off");
  const std::string by_index = rows_of(db, session, condition);
  if (by_index == by_table) return {};
  return condition + ": " + by_index + " by index, " + by_table + " by table";
}

std::string index_used(TestDatabase& db, const std::string& condition) {
  const std::string plan = db.explain("SELECT * FROM t WHERE " + condition);
  const std::size_t at = plan.find("using ");
  return at == std::string::npos ? "none" : plan.substr(at + 6, plan.find(' ', at + 6) - at - 6);
}

}  // namespace

TEST_CASE("Inverted indexes are read for the operators of their classes", "[sql][inverted]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int[], j jsonb, w text[])");
  db.run(
      "INSERT INTO t SELECT i, ARRAY[i, i % 10], jsonb_build_object('k', i), '{}'"
      "  FROM generate_series(1, 5000) i");
  db.run("CREATE INDEX ga ON t USING gin(a)");
  db.run("CREATE INDEX gj ON t USING gin(j)");
  for (const std::string op : {"@>", "&&", "=", "<@"}) {
    CHECK(index_used(db, "a " + op + " '{4999}'") == "ga");
  }
  CHECK(index_used(db, "'{1}' <@ a") == "ga");
  CHECK(index_used(db, "a && ARRAY[1, 2] AND id > 5") == "ga");
  CHECK(index_used(db, "j @> '{\"k\": 1}'") == "gj");
  CHECK(index_used(db, "j ? 'x'") == "gj");
  CHECK(index_used(db, "j ?| '{x,y}'") == "gj");
  CHECK(index_used(db, "j ?& '{x,y}'") == "gj");
  CHECK(index_used(db, "j <@ '{\"k\": 1}'") == "none");
  CHECK(index_used(db, "w @> '{x}'") == "none");
  CHECK(index_used(db, "a @> a") == "none");
  CHECK(db.rows("SELECT id FROM t WHERE a @> '{4999}'") == std::vector<std::string>{"4999"});
  CHECK(db.rows("SELECT count(*) FROM t WHERE a @> '{3}'") == std::vector<std::string>{"500"});
  CHECK(db.rows("SELECT count(*) FROM t WHERE a @> '{}'") == std::vector<std::string>{"5000"});
  CHECK(db.rows("SELECT id FROM t WHERE j @> '{\"k\": 77}'") == std::vector<std::string>{"77"});
  db.run("PREPARE p(int[]) AS SELECT count(*) FROM t WHERE a && $1");
  CHECK(db.rows("EXECUTE p('{1,2,33}')") == std::vector<std::string>{"1001"});
  std::string many = "{0";
  for (int i = 100; i < 200; ++i) many += "," + std::to_string(i);
  CHECK(db.rows("EXECUTE p('" + many + "}')") == std::vector<std::string>{"590"});
}

TEST_CASE("An update writes only those entries of an inverted index that differ",
          "[sql][inverted]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int[], n int)");
  db.run("CREATE INDEX ga ON t USING gin(a)");
  db.run("INSERT INTO t SELECT 1, array_agg(i), 0 FROM generate_series(1, 1000) i");
  const auto written = [&](const std::string& sql) {
    const auto before = db.engine().statistics().log_bytes_written;
    db.run(sql);
    return db.engine().statistics().log_bytes_written - before;
  };
  const auto one = written("UPDATE t SET a = array_remove(a, 7) WHERE id = 1");
  const auto all = written("UPDATE t SET a = (SELECT array_agg(i + 5000) FROM unnest(a) i)");
  CHECK(one * 4 < all);
  CHECK(db.rows("SELECT count(*) FROM t WHERE a @> '{7}'") == std::vector<std::string>{"0"});
  CHECK(db.rows("SELECT count(*) FROM t WHERE a @> '{5008}'") == std::vector<std::string>{"1"});
}

TEST_CASE("Inverted indexes agree with their table in every snapshot", "[sql][inverted]") {
  for_seeds(12, [&](std::uint64_t seed) {
    Random random{seed};
    TestDatabase db;
    const bool early = random.one_in(2);
    std::string definitions = kDefinitions;
    if (early) db.run(definitions);
    if (!early) db.run(definitions.substr(0, definitions.find(';')));
    for (int i = 0; i < 60; ++i) db.run(random_change(random));
    if (!early) db.run(definitions.substr(definitions.find(';') + 1));
    std::vector<std::unique_ptr<Session>> sessions;
    for (int i = 0; i < 4; ++i) {
      sessions.push_back(db.connect());
      db.run(*sessions.back(), "SET lock_timeout = 1; SET deadlock_timeout = 1");
      db.run(*sessions.back(), "BEGIN ISOLATION LEVEL REPEATABLE READ");
    }
    for (int step = 0; step < 150; ++step) {
      Session& session = *sessions[random.below(sessions.size())];
      const std::string outcome = db.run(session, random_change(random));
      const bool failed = outcome.starts_with("40") || outcome.starts_with("55");
      INFO("seed " << seed << ", step " << step << ": " << outcome);
      REQUIRE((failed || outcome.find(' ') < 8));
      if (failed || random.one_in(6)) {
        db.run(session, failed || random.one_in(3) ? "ROLLBACK" : "COMMIT");
        db.run(session, random.one_in(2) ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ");
      }
      REQUIRE(disagreement(db, session, random) == std::string{});
    }
    for (const auto& session : sessions) db.run(*session, "COMMIT");
    if (random.one_in(2)) db.run("REINDEX TABLE t");
    db.run("BEGIN");
    for (int i = 0; i < 40; ++i) REQUIRE(disagreement(db, db.session(), random) == std::string{});
    db.run("COMMIT");
    CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
  });
}

TEST_CASE("What an inverted index was asked for at SERIALIZABLE stays true", "[sql][inverted]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int[])");
  db.run("CREATE INDEX ga ON t USING gin(a)");
  db.run("INSERT INTO t SELECT i, ARRAY[i, i % 7] FROM generate_series(1, 3000) i");
  const auto reader = db.connect();
  const auto writer = db.connect();
  db.run(*writer, "SET lock_timeout = 1");
  db.run(*reader, "SET serializable_method = locking");
  for (const std::string change :
       {"INSERT INTO t VALUES (9999, '{2222,8,1}')", "UPDATE t SET a = '{2222,8}' WHERE id = 17",
        "DELETE FROM t WHERE id = 2222", "UPDATE t SET a = a || 5 WHERE id = 2222"}) {
    db.run(*reader, "BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL enable_seqscan = off");
    CHECK(db.run(*reader, "SELECT count(*) FROM t WHERE a && '{2222,4444}'") == "1 SELECT 1");
    INFO(change);
    CHECK_THAT(db.run(*writer, change), Catch::StartsWith("55P03"));
    db.run(*reader, "COMMIT");
  }
}

TEST_CASE("Inverted indexes agree with their table after power cuts",
          "[sql][inverted][simulation][crash]") {
  constexpr std::uint64_t kPoolBytes = std::uint64_t{2} << 20U;
  for_seeds(6, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Simulation{1}.run([&] {
      TestDatabase db{disk};
      db.run(kDefinitions);
    });
    disk.sync_everything();
    Random random{seed};
    for (std::uint64_t round = 0; round < 3; ++round) {
      Simulation{seed * 10 + round}.run([&] {
        TestDatabase db{disk, TestDatabase::Existing{kPoolBytes}};
        disk.cut_power_at(DiskOperation::change, random.between(10, 200));
        for (int i = 0; i < 150; ++i) {
          db.run("BEGIN");
          for (std::uint64_t left = random.below(4); left != 0; --left) {
            db.run(random_change(random));
          }
          db.run(random.one_in(5) ? "ROLLBACK" : "COMMIT");
        }
        disk.cut_power();
      });
      disk.crash(seed * 10 + round);
      Simulation{seed}.run([&] {
        TestDatabase db{disk, TestDatabase::Existing{kPoolBytes}};
        CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
        db.run("BEGIN");
        for (int i = 0; i < 30; ++i) CHECK(disagreement(db, db.session(), random) == std::string{});
        db.run("COMMIT");
      });
    }
  });
}
