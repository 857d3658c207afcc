#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

/// Tools of the tests of indexes that are built beside writers.
namespace swizzle::sql {

inline constexpr int kIndexedRows = 600;

/// Creates the table that the writers change.
inline void create_indexed(TestDatabase& db) {
  db.run("CREATE TABLE t (id int PRIMARY KEY, a int, u int, words text[], note text)");
  db.run(
      "INSERT INTO t SELECT n, n % 20, n, ARRAY['w' || n % 5, 'w' || n % 7], 'x' || n FROM "
      "generate_series(1, " +
      std::to_string(kIndexedRows) + ") AS n");
}

/// A client that changes rows at random, in transactions with savepoints, of which some roll back.
class RandomWriter {
 public:
  /// `values`: bound of the values of column u; few of them make a unique index fail.
  RandomWriter(std::unique_ptr<Session> session, std::uint64_t seed, std::uint64_t values)
      : session_(std::move(session)), random_(seed), values_(values) {
    run("SET deadlock_timeout = '1ms'");
  }

  void transaction() {
    run(random_.one_in(3) ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN");
    bool good = true;
    for (std::uint64_t left = random_.between(1, 5); good && left != 0; --left) {
      if (random_.one_in(4)) {
        run("SAVEPOINT s");
        change();
        run("ROLLBACK TO s");
      } else {
        good = change();
      }
    }
    const bool keeps = good && !random_.one_in(4);
    if (run(keeps ? "COMMIT" : "ROLLBACK") && keeps) ++commits;
  }

  std::uint64_t commits = 0;
  std::string wrong;

 private:
  bool run(const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session_->simple_query(sql, sink_);
    if (outcome) return true;
    static const std::set<std::string> kExpected{"23505", "40001", "40P01", "25P02"};
    const std::string state{outcome.error().state.code()};
    if (!kExpected.contains(state)) {
      wrong = sql + ": " + state + " " + outcome.error().message + " " + outcome.error().detail;
    }
    return false;
  }
  std::string below(std::uint64_t bound) { return std::to_string(random_.below(bound)); }
  std::string id() { return below(kIndexedRows + 200); }
  std::string values(const std::string& key) {
    return "(" + key + ", " + (random_.one_in(8) ? "NULL" : below(20)) + ", " +
           (random_.one_in(8) ? "NULL" : std::to_string(1000 + random_.below(values_))) +
           ", ARRAY['w" + below(6) + "'], 'y')";
  }

  bool change() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return run("INSERT INTO t VALUES " + values(id()));
      case 2:
        return run("INSERT INTO t VALUES " + values(id()) +
                   " ON CONFLICT (id) DO UPDATE SET a = excluded.a, u = excluded.u");
      case 3:
        return run("DELETE FROM t WHERE id = " + id());
      case 4:
        return run("DELETE FROM t WHERE a = " + below(20) + " AND id % 10 = " + below(10));
      case 5:
        return run("UPDATE t SET id = " + id() + " WHERE id = " + id());
      case 6:
        return run("UPDATE t SET a = a + 1, words = words || 'w" + below(6) +
                   "'::text WHERE id > " + id() + " AND id % 8 = " + below(8));
      case 7:
        // Enough rows for collected changes of indexes.
        return run("UPDATE t SET a = " + below(20) + " WHERE id % 4 = " + below(4));
      case 8:
        return run("UPDATE t SET u = " + std::to_string(1000 + random_.below(values_)) +
                   " WHERE id = " + id());
      default:
        return run("SELECT * FROM t WHERE id = " + id() + " FOR UPDATE");
    }
  }

  std::unique_ptr<Session> session_;
  Random random_;
  std::uint64_t values_;
  TestSink sink_;
};

/// Definitions of the indexes that are built, and for each a query that it answers alone.
struct IndexKind {
  std::string definition;  ///< after CREATE, with CONCURRENTLY
  std::vector<std::string> queries;
  bool is_unique = false;
};
inline std::vector<IndexKind> index_kinds() {
  std::vector<std::string> of_words;
  for (int i = 0; i < 7; ++i) {
    of_words.push_back("SELECT count(*), sum(id) FROM t WHERE words @> ARRAY['w" +
                       std::to_string(i) + "']");
  }
  return {
      {"INDEX CONCURRENTLY i ON t (a)", {"SELECT a, id FROM t WHERE a >= 0 ORDER BY a, id"}},
      {"INDEX CONCURRENTLY i ON t ((a + u))", {"SELECT count(*), sum(id) FROM t WHERE a + u >= 0"}},
      {"INDEX CONCURRENTLY i ON t (u) WHERE a > 10",
       {"SELECT u, id FROM t WHERE a > 10 AND u >= 0 ORDER BY u, id"}},
      {"INDEX CONCURRENTLY i ON t USING gin (words)", of_words},
      {"UNIQUE INDEX CONCURRENTLY i ON t (u)",
       {"SELECT u, id FROM t WHERE u >= 0 ORDER BY u, id"},
       true},
  };
}

/// Returns a difference between an index's answers and the table's in one snapshot; empty if there
/// is none.
inline std::string complaint_of_index(TestDatabase& db, Session& session,
                                      const std::vector<std::string>& queries) {
  db.run(session, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  std::string wrong;
  for (const std::string& query : queries) {
    db.run(session, "SET LOCAL enable_seqscan = off");
    const std::string by_index = db.run(session, query);
    const std::string plan = db.run(session, "EXPLAIN (COSTS off) " + query);
    db.run(session, "SET LOCAL enable_seqscan = on");
    db.run(session, "SET LOCAL enable_indexscan = off");
    db.run(session, "SET LOCAL enable_indexonlyscan = off");
    db.run(session, "SET LOCAL enable_bitmapscan = off");
    const std::string by_table = db.run(session, query);
    for (const auto* setting : {"indexscan", "indexonlyscan", "bitmapscan"})
      db.run(session, std::string{"SET LOCAL enable_"} + setting + " = on");
    if (plan.find("using i ") == std::string::npos && plan.find("on i ") == std::string::npos)
      wrong = query + " does not use the index: " + plan;
    if (by_index != by_table) wrong = query + ": " + by_index + " by index, " + by_table;
  }
  db.run(session, "COMMIT");
  return wrong;
}

/// Returns "v" for a valid index, "i" for one that is not but is maintained, "d" for neither, "" if
/// there is none.
inline std::string state_of_index(TestDatabase& db, Session& session,
                                  const std::string& name = "i") {
  const std::string answer = db.run(
      session,
      "SELECT CASE WHEN indisvalid THEN 'v' WHEN indisready THEN 'i' ELSE 'd' END FROM pg_index "
      "JOIN pg_class ON pg_class.oid = indexrelid WHERE relname = '" +
          name + "'");
  return answer.starts_with("SELECT") ? "" : answer.substr(0, 1);
}

}  // namespace swizzle::sql
