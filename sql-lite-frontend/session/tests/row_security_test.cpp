#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Rows that policies hide, beside other sessions, and from users that try to find out about them.
namespace swizzle::sql {
namespace {

std::unique_ptr<Session> session_of(TestDatabase& db, const std::string& role) {
  static std::int32_t pid = 3000;
  SessionOptions options;
  options.user = role;
  options.backend_pid = ++pid;
  auto session = db.database().connect(std::move(options));
  REQUIRE(session);
  return std::move(*session);
}

/// Creates a table whose rows each belong to one role, which sees no others.
void make_documents(TestDatabase& db) {
  db.run("CREATE ROLE ann LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE team");
  db.run("CREATE TABLE docs(id int PRIMARY KEY, author text, level int, body text)");
  db.run("INSERT INTO docs VALUES (1, 'ann', 1, 'a'), (2, 'ben', 0, 'b'), (3, 'ben', 2, 'c')");
  db.run("ALTER TABLE docs ENABLE ROW LEVEL SECURITY; GRANT ALL ON docs TO ann, ben, team");
  REQUIRE(db.run("CREATE POLICY own ON docs USING (author = current_user)") == "CREATE POLICY");
}

/// Returns the other session's answer after this one's transaction has committed.
std::string answer_after_commit(TestDatabase& db, Session& other, const std::string& sql) {
  std::string answer;
  std::atomic<bool> has_answered{false};
  TestSink sink;
  std::thread asking{[&] {
    const Outcome outcome = other.simple_query(sql, sink);
    if (!outcome) {
      answer = outcome.error().message;
    } else {
      for (const std::string& row : sink.rows) answer += row + " ";
      answer += sink.tags.back();
    }
    has_answered = true;
  }};
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!has_answered &&
         db.run("SELECT 1 FROM pg_locks WHERE NOT granted LIMIT 1") == "SELECT 0" &&
         std::chrono::steady_clock::now() < latest)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  db.run("COMMIT");
  asking.join();
  return answer;
}

}  // namespace

TEST_CASE("Policies are there after a restart", "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  db.run("CREATE POLICY odd ON docs AS RESTRICTIVE FOR SELECT TO ben USING (id % 2 = 1)");
  db.close();
  db.open();
  const auto ben = session_of(db, "ben");
  CHECK(db.run(*ben, "SELECT id FROM docs") == "3 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM pg_policies") == "2 SELECT 1");
}

TEST_CASE("What a policy with a subquery is shown as makes it again, whatever has been renamed",
          "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  db.run(
      "CREATE SCHEMA other; CREATE TABLE other.m(a int, b text); INSERT INTO other.m VALUES (3)");
  db.run("GRANT USAGE ON SCHEMA other TO ben; GRANT ALL ON other.m TO ben");
  REQUIRE(
      db.run("ALTER POLICY own ON docs USING (EXISTS (SELECT 1 FROM other.m WHERE m.a = docs.id "
             "AND author = current_user))") == "ALTER POLICY");
  const auto ben = session_of(db, "ben");
  const auto again = [&] {
    std::string shown = db.run("SELECT qual FROM pg_policies");
    shown.resize(shown.size() - std::string_view{" SELECT 1"}.size());
    INFO(shown);
    const std::string table = db.run("SELECT relname FROM pg_class WHERE relrowsecurity");
    const std::string name = table.substr(0, table.find(' '));
    CHECK(db.run("CREATE POLICY again ON " + name + " USING (" + shown + ")") == "CREATE POLICY");
    CHECK(db.run("DROP POLICY own ON " + name + "; ALTER POLICY again ON " + name +
                 " RENAME TO own") == "DROP POLICY ALTER POLICY");
    CHECK(db.run(*ben, "SELECT level FROM " + name) == "2 SELECT 1");
  };
  again();
  db.run("ALTER TABLE other.m RENAME a TO \"A\"; ALTER TABLE other.m RENAME TO n");
  again();
  db.run("ALTER TABLE docs RENAME id TO number; ALTER TABLE docs RENAME author TO \"Who\"");
  again();
  db.run("ALTER TABLE docs RENAME TO papers");
  again();
}

TEST_CASE("A plan that met policies is of one role and one state of the definitions",
          "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  const auto ann = session_of(db, "ann");
  const auto ben = session_of(db, "ben");
  const auto another_ben = session_of(db, "ben");
  const char* const kIds = "SELECT id FROM docs ORDER BY id";
  CHECK(db.run(*ann, kIds) == "1 SELECT 1");
  CHECK(db.run(*ben, kIds) == "2 3 SELECT 2");
  CHECK(db.run(*another_ben, kIds) == "2 3 SELECT 2");
  CHECK(db.run(kIds) == "1 2 3 SELECT 3");
  CHECK(db.run(*ann, "PREPARE p AS SELECT id FROM docs ORDER BY id; EXECUTE p") ==
        "1 PREPARE SELECT 1");
  const auto ids = [&] { return db.run(*ann, "EXECUTE p"); };
  db.run("CREATE POLICY all_of_it ON docs FOR SELECT TO team USING (true)");
  CHECK(ids() == "1 SELECT 1");
  SECTION("a policy comes, changes and goes") {
    db.run("ALTER POLICY own ON docs USING (level > 0)");
    CHECK(ids() == "1 3 SELECT 2");
    CHECK(db.run(*ben, kIds) == "1 3 SELECT 2");
    db.run("DROP POLICY own ON docs");
    CHECK(ids() == "SELECT 0");
    CHECK(db.run(*another_ben, kIds) == "SELECT 0");
  }
  SECTION("the role becomes a member, and is none any more") {
    db.run("GRANT team TO ann");
    CHECK(ids() == "1 2 3 SELECT 3");
    CHECK(db.run(*ann, kIds) == "1 2 3 SELECT 3");
    db.run("REVOKE team FROM ann");
    CHECK(ids() == "1 SELECT 1");
    CHECK(db.run(*ann, kIds) == "1 SELECT 1");
  }
  SECTION("the role may bypass them for a while") {
    db.run("ALTER ROLE ann BYPASSRLS");
    CHECK(ids() == "1 2 3 SELECT 3");
    db.run("ALTER ROLE ann NOBYPASSRLS");
    CHECK(ids() == "1 SELECT 1");
  }
  SECTION("the table is somebody else's") {
    db.run("ALTER TABLE docs OWNER TO ann");
    CHECK(ids() == "1 2 3 SELECT 3");
    db.run("ALTER TABLE docs FORCE ROW LEVEL SECURITY");
    CHECK(ids() == "1 SELECT 1");
  }
  SECTION("security is off, or may not count") {
    db.run("ALTER TABLE docs DISABLE ROW LEVEL SECURITY");
    CHECK(ids() == "1 2 3 SELECT 3");
    db.run("ALTER TABLE docs ENABLE ROW LEVEL SECURITY");
    CHECK(ids() == "1 SELECT 1");
    db.run(*ann, "SET row_security = off");
    CHECK(ids().starts_with("42501"));
    CHECK(db.run(*ann, kIds).starts_with("42501"));
    db.run(*ann, "RESET row_security");
    CHECK(ids() == "1 SELECT 1");
  }
  SECTION("what has not been committed counts for nobody else") {
    db.run("BEGIN; CREATE POLICY more ON docs USING (true); ROLLBACK");
    CHECK(ids() == "1 SELECT 1");
  }
  SECTION("a function acts as its owner") {
    db.run(
        "CREATE FUNCTION seen() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS "
        "'SELECT count(*) FROM docs'");
    for (int i = 0; i < 2; ++i) {
      CHECK(db.run(*ann, "SELECT seen(), count(*) FROM docs") == "3|1 SELECT 1");
      CHECK(db.run(*ben, "SELECT seen(), count(*) FROM docs") == "3|2 SELECT 1");
    }
  }
  SECTION("a function's statement runs for who calls it, and for a function's owner") {
    db.run("DROP POLICY all_of_it ON docs");
    db.run(
        "CREATE FUNCTION seen() RETURNS bigint LANGUAGE plpgsql AS "
        "'BEGIN RETURN (SELECT count(*) FROM docs); END'");
    db.run(
        "CREATE FUNCTION all_seen() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS "
        "'BEGIN RETURN seen(); END'");
    for (int i = 0; i < 2; ++i) {
      CHECK(db.run(*ann, "SELECT seen()") == "1 SELECT 1");
      CHECK(db.run(*ann, "SELECT all_seen()") == "3 SELECT 1");
      CHECK(db.run(*ann, "SELECT seen(), all_seen(), seen()") == "1|3|1 SELECT 1");
    }
  }
}

TEST_CASE("A row that policies hide after somebody's change is left alone",
          "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  const auto ann = session_of(db, "ann");
  const auto meet = [&](const std::string& sql) {
    db.run("UPDATE docs SET author = 'ann', level = 1 WHERE id = 1");
    db.run("BEGIN; UPDATE docs SET author = 'ben', level = 0 WHERE id = 1");
    return answer_after_commit(db, *ann, sql);
  };
  CHECK(meet("UPDATE docs SET body = 'x' WHERE 1 / level > 0") == "UPDATE 0");
  CHECK(meet("DELETE FROM docs WHERE 1 / level > 0") == "DELETE 0");
  CHECK(meet("SELECT id FROM docs WHERE 1 / level > 0 FOR UPDATE") == "SELECT 0");
  CHECK(meet("SELECT d.id FROM docs d JOIN (VALUES (1)) v(n) ON n / level > 0 FOR UPDATE OF d") ==
        "SELECT 0");
  CHECK(meet("SELECT id FROM (SELECT * FROM docs WHERE 1 / level > 0) d FOR SHARE") == "SELECT 0");
}

TEST_CASE("Conditions that tell of rows are asked of those alone that policies show",
          "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  db.run("CREATE TABLE names(name text PRIMARY KEY, n int); GRANT ALL ON names TO ann");
  db.run("INSERT INTO names VALUES ('ann', 1), ('ben', 0)");
  db.run("INSERT INTO docs SELECT g, 'carl', 0, 'z' FROM generate_series(10, 2000) g");
  db.run("CREATE INDEX ON docs(level); CREATE INDEX ON docs((1 / (id - 5)))");
  db.run("ANALYZE docs; ANALYZE names");
  db.run(
      "CREATE FUNCTION tells(int) RETURNS bool LANGUAGE plpgsql COST 0.001 AS "
      "'BEGIN RETURN 1 / $1 > 0; END'");
  const auto ann = session_of(db, "ann");
  for (const char* off : {"enable_hashjoin", "enable_nestloop", "enable_seqscan", "enable_sort"}) {
    db.run(*ann, std::string{"SET "} + off + " = off");
    for (const char* query : {
             "SELECT id FROM docs WHERE 1 / level > 0",
             "SELECT id FROM docs WHERE tells(level)",
             "SELECT id FROM names JOIN docs ON name = author WHERE tells(level)",
             "SELECT id FROM docs WHERE level = 1 AND 1 / level > 0",
             "SELECT id FROM docs WHERE body = 'a' OR 1 / level > 0",
             "SELECT id FROM docs WHERE 1 / level > 0 ORDER BY level LIMIT 1",
             "SELECT id FROM docs d JOIN names ON name = author AND 1 / level = n",
             "SELECT id FROM names JOIN docs ON name = author WHERE 1 / level > 0",
             "SELECT id FROM names LEFT JOIN docs ON name = author AND 1 / level > 0 "
             "WHERE id IS NOT NULL",
             "SELECT n FROM names WHERE EXISTS (SELECT 1 FROM docs WHERE author = name "
             "AND 1 / level > 0)",
             "SELECT n FROM names WHERE name IN (SELECT author FROM docs WHERE 1 / level > 0)",
             "SELECT n FROM names WHERE name NOT IN (SELECT author FROM docs "
             "WHERE 1 / level > 1) AND n = 1",
             "SELECT min(id) FROM docs WHERE 1 / level > 0",
             "SELECT max(1 / level) FROM docs",
             "WITH w AS (SELECT * FROM docs) SELECT id FROM w WHERE 1 / level > 0",
             "SELECT id FROM (SELECT * FROM docs UNION ALL SELECT * FROM docs) d "
             "WHERE 1 / level > 0 LIMIT 1",
             "SELECT id FROM docs WHERE 1 / level > 0 GROUP BY id",
             "SELECT id FROM docs WHERE (1 / level, id) > (0, 0)",
             "SELECT id FROM docs WHERE 1 / level IN (1, 2)",
             "SELECT id FROM docs WHERE id / level BETWEEN 1 AND 2",
             "SELECT id FROM docs WHERE body = 'a' OR body::int > 0",
             "SELECT id FROM docs WHERE 1 / level > 0 FOR UPDATE",
             "UPDATE docs SET body = 'a' WHERE 1 / level > 0 RETURNING id",
             "UPDATE docs SET body = 'a' FROM names WHERE name = author AND 1 / level > 0 "
             "RETURNING id",
         }) {
      INFO(query << "; without " << off);
      const std::string answer = db.run(*ann, query);
      CHECK(answer.starts_with("1 "));
    }
    INFO("without " << off);
    CHECK(db.run(*ann, "DELETE FROM docs WHERE 1 / level > 5") == "DELETE 0");
    CHECK(db.run(*ann,
                 "INSERT INTO docs VALUES (2, 'ann', 1, 'x') ON CONFLICT (id) DO UPDATE "
                 "SET body = 'x' WHERE 1 / docs.level > 0")
              .starts_with("42501"));
    db.run(*ann, "RESET ALL");
  }
}

TEST_CASE("Indexes find rows behind policies", "[sql][session][policies]") {
  TestDatabase db;
  make_documents(db);
  db.run("INSERT INTO docs SELECT g, 'ben', g, 'z' FROM generate_series(10, 5000) g");
  db.run("CREATE INDEX ON docs(level); ALTER POLICY own ON docs USING (level = 1); ANALYZE docs");
  const auto ann = session_of(db, "ann");
  const auto plan = [&](const std::string& sql) {
    return db.run(*ann, "EXPLAIN (COSTS OFF) " + sql);
  };
  using Catch::Contains;
  CHECK_THAT(plan("SELECT body FROM docs WHERE id = 7"), Contains("Index Cond: (id = 7)"));
  CHECK_THAT(plan("SELECT body FROM docs"), Contains("Index Cond: (level = 1)"));
  CHECK_THAT(plan("SELECT body FROM docs ORDER BY id LIMIT 1"), !Contains("Seq Scan"));
  CHECK_THAT(plan("SELECT d.body FROM (VALUES (1), (2)) v(n) JOIN docs d ON d.id = v.n"),
             Contains("Nested Loop"));
  CHECK_THAT(plan("UPDATE docs SET body = '' WHERE id = 7"), Contains("Index Cond: (id = 7)"));
}

}  // namespace swizzle::sql
