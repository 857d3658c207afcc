#include <string>

#include "sql-lite-frontend/session/tests/beside.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// A change that commits while MERGE waits for the row.
struct MergeMeeting {
  const char* change;
  const char* answer;
};

constexpr const char* kMerge =
    "MERGE INTO t USING (VALUES (10, 50)) v (k, i) ON t.k = v.k "
    "WHEN MATCHED AND t.b > 120 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET b = t.b + 1000 "
    "WHEN NOT MATCHED THEN INSERT VALUES (v.i, v.k, 0) "
    "RETURNING merge_action(), old.id, old.b, new.id, new.b";

constexpr const char* kMergeOfAll =
    "MERGE INTO t USING (VALUES (10, 50)) v (k, i) ON t.k = v.k "
    "WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT VALUES (v.i, v.k, 0) "
    "WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN UPDATE SET b = -t.b "
    "RETURNING merge_action(), v.k, old.b, new.b";

void start(TestDatabase& db) {
  db.run("DROP TABLE IF EXISTS t");
  db.run("CREATE TABLE t (id int PRIMARY KEY, k int, b int)");
  db.run("INSERT INTO t VALUES (1, 10, 100), (2, 20, 200)");
}

}  // namespace

// PostgreSQL 18's answers.
TEST_CASE("MERGE asks its conditions again of a row that has changed", "[sql][session][merge]") {
  TestDatabase db;
  const auto other = db.connect();
  for (const MergeMeeting& meeting : {
           MergeMeeting{"UPDATE t SET b = 110 WHERE id = 1", "UPDATE|1|110|1|1110 MERGE 1"},
           MergeMeeting{"UPDATE t SET b = 130 WHERE id = 1", "DELETE|1|130|NULL|NULL MERGE 1"},
           MergeMeeting{"UPDATE t SET k = 11 WHERE id = 1", "INSERT|NULL|NULL|50|0 MERGE 1"},
           MergeMeeting{"UPDATE t SET id = 9 WHERE id = 1", "UPDATE|9|100|9|1100 MERGE 1"},
           MergeMeeting{"DELETE FROM t WHERE id = 1", "INSERT|NULL|NULL|50|0 MERGE 1"},
       }) {
    INFO(meeting.change);
    start(db);
    db.run("BEGIN");
    db.run(meeting.change);
    CHECK(answer_beside(db, *other, kMerge) == meeting.answer);
    start(db);
    db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM t");
    db.run("BEGIN");
    db.run(meeting.change);
    CHECK(answer_beside(db, *other, kMerge).starts_with("40001"));
    db.run(*other, "ROLLBACK");
  }
}

TEST_CASE("A row that belongs to its source no more is one without a source",
          "[sql][session][merge]") {
  TestDatabase db;
  const auto other = db.connect();
  start(db);
  db.run("BEGIN; UPDATE t SET k = 11 WHERE id = 1");
  CHECK(answer_beside(db, *other, kMergeOfAll) == "UPDATE|NULL|100|-100 INSERT|10|NULL|0 MERGE 2");
  start(db);
  db.run("BEGIN; UPDATE t SET b = 5 WHERE id = 1");
  CHECK(answer_beside(db, *other, kMergeOfAll) == "DELETE|10|5|NULL MERGE 1");
}

TEST_CASE("MERGE changes a row once, however the row moves", "[sql][session][merge]") {
  TestDatabase db;
  start(db);
  const std::string merge = "MERGE INTO t USING (VALUES (1), (1)) v (i) ON t.id = v.i ";
  for (const char* action : {"UPDATE SET b = 1", "UPDATE SET id = t.id + 10", "DELETE"}) {
    INFO(action);
    CHECK(db.run(merge + "WHEN MATCHED THEN " + action) ==
          "21000 MERGE command cannot affect row a second time");
  }
  CHECK(db.run(
            "MERGE INTO t USING generate_series(1, 20) g ON t.id = g WHEN MATCHED THEN "
            "UPDATE SET id = t.id + 10 WHEN NOT MATCHED AND g > 18 THEN INSERT VALUES (g, g, g)") ==
        "MERGE 4");
  CHECK(db.run("SELECT id FROM t ORDER BY id") == "11 12 19 20 SELECT 4");
}
