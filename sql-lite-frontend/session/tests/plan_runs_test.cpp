// Shared plans: concurrent runs of a plan, in portals of one session or in several sessions, have
// separate states.
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// A query for each kind of step and expression with state from row to row. $1 is 1 to 4.
const std::vector<std::string> kQueries{
    "SELECT id, (SELECT max(o.amount) FROM orders o WHERE o.id < $1::int * 10) FROM people "
    "ORDER BY id",
    "SELECT id, (SELECT count(*) FROM orders o WHERE o.person = p.id AND o.amount > $1::int) "
    "FROM people p ORDER BY id",
    "SELECT id FROM people WHERE id IN (SELECT person + $1::int FROM orders) ORDER BY id",
    "SELECT id, id NOT IN (SELECT person * $1::int FROM orders) FROM people ORDER BY id",
    "SELECT id, id > ALL (SELECT $1::int + person FROM orders WHERE person < 3) FROM people "
    "ORDER BY id",
    "SELECT id, (id, $1::int) = (SELECT person, 2 FROM orders ORDER BY id LIMIT 1) FROM people "
    "ORDER BY id",
    "SELECT id, ARRAY(SELECT o.id FROM orders o WHERE o.person = $1::int ORDER BY 1) FROM people "
    "ORDER BY id",
    "SELECT id FROM people WHERE id IN ($1::int, $1::int + 1, 5, 6, 7, 8, 9, 10, 11, 12) "
    "ORDER BY id",
    "SELECT id FROM people WHERE id <> ALL (ARRAY[$1::int, 3]) ORDER BY id",
    "SELECT id FROM people WHERE id = ANY (ARRAY[$1::int, $1::int + 2])",
    "WITH RECURSIVE n(i) AS (VALUES ($1::int) UNION SELECT i + 1 FROM n WHERE i < $1::int + 9) "
    "SELECT i, (SELECT count(*) FROM n m WHERE m.i <= n.i) FROM n",
    "WITH w AS MATERIALIZED (SELECT id * $1::int AS v FROM people) "
    "SELECT a.v, b.v FROM w a JOIN w b ON a.v = b.v ORDER BY 1",
    "SELECT p.id, l.v FROM people p, LATERAL (WITH c AS (SELECT p.id + $1::int AS v) "
    "SELECT c.v FROM c) l ORDER BY 1",
    "SELECT person, sum(amount + $1::int), count(DISTINCT amount), array_agg(id ORDER BY id DESC) "
    "FROM orders GROUP BY person ORDER BY person",
    "SELECT person, rank() OVER (PARTITION BY person % $1::int ORDER BY amount), "
    "sum(amount) OVER (ORDER BY id ROWS BETWEEN $1::int PRECEDING AND CURRENT ROW) FROM orders "
    "ORDER BY id",
    "SELECT DISTINCT amount % $1::int FROM orders",
    "SELECT DISTINCT ON (person) person, amount + $1::int FROM orders ORDER BY person, amount",
    "SELECT id FROM people EXCEPT SELECT person + $1::int FROM orders",
    "SELECT id FROM people UNION ALL SELECT person + $1::int FROM orders",
    "SELECT p.id, o.id FROM people p LEFT JOIN orders o ON o.person = p.id AND o.amount > $1::int",
    "SELECT p.id, o.id FROM people p FULL JOIN orders o ON o.person = p.id + $1::int",
    "SELECT g, generate_series(1, $1::int) FROM generate_series($1::int, 5) WITH ORDINALITY g(g)",
    "SELECT max(id), min(id) FROM orders WHERE id > $1::int",
    "SELECT count(*) FROM orders WHERE person >= $1::int",
    "SELECT id FROM orders WHERE person = $1::int OR person = $1::int + 1 ORDER BY id LIMIT 7",
    "SELECT id FROM orders ORDER BY amount DESC, id OFFSET $1::int LIMIT $1::int + 3",
    "SELECT id FROM orders WHERE EXISTS (SELECT FROM people p WHERE p.id = orders.person AND "
    "p.id > $1::int)",
    "SELECT id FROM orders WHERE id > $1::int FOR UPDATE",
    "SELECT relname, attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
    "WHERE relname = 'people' AND attnum BETWEEN 1 AND $1::int",
};

void fill(TestDatabase& db) {
  CHECK(db.run("CREATE TABLE people(id int PRIMARY KEY, name text);"
               "CREATE TABLE orders(id int PRIMARY KEY, person int REFERENCES people, amount int);"
               "CREATE INDEX ON orders(person);"
               "INSERT INTO people SELECT i, 'p' || i FROM generate_series(1, 12) i;"
               "INSERT INTO orders SELECT i, 1 + i % 7, i * 37 % 23 FROM generate_series(1, 60) i")
            .starts_with("CREATE"));
}

/// A portal of the prepared statement "q", read a few rows at a time.
class Reader {
 public:
  Reader(Session& session, std::string name, int parameter)
      : session_(session), name_(std::move(name)) {
    const std::string value = std::to_string(parameter);
    const std::optional<Bytes> values[] = {as_bytes(value)};
    check(session_.bind({name_, "q", {}, values, {}}, sink_));
  }
  /// Returns false at the end.
  bool read(std::uint64_t rows) {
    check(session_.execute(name_, rows, sink_));
    return !is_wrong_ && sink_.tags.back() == "(suspended)";
  }
  [[nodiscard]] const std::vector<std::string>& rows() const { return sink_.rows; }

 private:
  void check(const Outcome& outcome) {
    if (outcome) return;
    is_wrong_ = true;
    sink_.rows.push_back(outcome.error().message);
  }
  Session& session_;
  std::string name_;
  TestSink sink_;
  bool is_wrong_ = false;
};

void prepare(Session& session, const std::string& query) {
  TestSink sink;
  static_cast<void>(session.close_statement("q"));
  const Outcome outcome = session.parse("q", query, {}, sink);
  INFO(query << ": " << (outcome ? "" : outcome.error().message));
  REQUIRE(outcome);
}

std::vector<std::string> alone(Session& session, int parameter) {
  Reader reader{session, "", parameter};
  reader.read(0);
  TestSink sink;
  REQUIRE(session.sync(sink));
  return reader.rows();
}

}  // namespace

TEST_CASE("Portals of one statement that are read by turns each find their own rows",
          "[sql][session][plans]") {
  TestDatabase db;
  fill(db);
  for (const std::string& query : kQueries) {
    prepare(db.session(), query);
    std::vector<std::vector<std::string>> expected;
    for (int parameter = 1; parameter <= 4; ++parameter) {
      expected.push_back(alone(db.session(), parameter));
    }
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 4; ++i) {
      readers.push_back(std::make_unique<Reader>(
          db.session(), std::string(1, static_cast<char>('a' + i)), i + 1));
    }
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        const bool has_more = readers[i]->rows().size() <= 200 && readers[i]->read(i + 1);
        more = has_more || more;
      }
    }
    TestSink sink;
    REQUIRE(db.session().sync(sink));
    for (std::size_t i = 0; i < readers.size(); ++i) {
      INFO(query << " with " << i + 1);
      CHECK(readers[i]->rows() == expected[i]);
      CHECK_FALSE(expected[i].empty());
    }
  }
}

TEST_CASE("Sessions that run one statement at the same time each find their own rows",
          "[sql][session][plans][threads]") {
  TestDatabase db;
  fill(db);
  constexpr int kSessions = 4;
  constexpr int kRounds = 20;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < kSessions; ++i) sessions.push_back(db.connect());
  for (const std::string& query : kQueries) {
    // Queries that lock rows would wait for each other, which is not the subject.
    if (query.find("FOR UPDATE") != std::string::npos) continue;
    std::vector<std::vector<std::string>> expected;
    for (int i = 0; i < kSessions; ++i) {
      prepare(*sessions[static_cast<std::size_t>(i)], query);
      expected.push_back(alone(*sessions[static_cast<std::size_t>(i)], i + 1));
    }
    std::vector<int> wrong(kSessions, 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kSessions; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < kRounds; ++round) {
          Reader reader{*sessions[i], "", static_cast<int>(i) + 1};
          while (reader.read(3)) {
          }
          TestSink sink;
          if (!sessions[i]->sync(sink) || reader.rows() != expected[i]) ++wrong[i];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    INFO(query);
    CHECK(wrong == std::vector<int>(kSessions, 0));
  }
}

TEST_CASE("A statement that is run inside itself has its own run", "[sql][session][plans]") {
  TestDatabase db;
  // A chain of rows that delete each other runs the action's statement within itself.
  db.run("CREATE TABLE chain(id int PRIMARY KEY, next int REFERENCES chain ON DELETE CASCADE)");
  db.run("INSERT INTO chain SELECT i, nullif(i - 1, 0) FROM generate_series(1, 50) i");
  CHECK(db.run("DELETE FROM chain WHERE id = 1") == "DELETE 1");
  CHECK(db.run("SELECT count(*) FROM chain") == "0 SELECT 1");
}

TEST_CASE("Cursors of one text keep their places", "[sql][session][plans]") {
  TestDatabase db;
  fill(db);
  CHECK(db.run("PREPARE p(int) AS SELECT id FROM people WHERE id > $1 ORDER BY id") == "PREPARE");
  db.run("BEGIN");
  db.run("DECLARE a CURSOR FOR SELECT id FROM people ORDER BY id");
  db.run("DECLARE b CURSOR FOR SELECT id FROM people ORDER BY id");
  CHECK(db.run("FETCH 2 FROM a") == "1 2 FETCH 2");
  CHECK(db.run("FETCH 1 FROM b") == "1 FETCH 1");
  CHECK(db.run("EXECUTE p(10)") == "11 12 SELECT 2");
  CHECK(db.run("FETCH 1 FROM a") == "3 FETCH 1");
  CHECK(db.run("EXECUTE p(11)") == "12 SELECT 1");
  CHECK(db.run("FETCH 2 FROM b") == "2 3 FETCH 2");
  db.run("COMMIT");
}

TEST_CASE("A session that knows more statements than it keeps runs for answers all of them",
          "[sql][session][plans]") {
  TestDatabase db;
  fill(db);
  constexpr int kStatements = 150;
  for (int i = 0; i < kStatements; ++i) {
    CHECK(db.run("PREPARE p" + std::to_string(i) + "(int) AS SELECT id + " + std::to_string(i) +
                 " FROM people WHERE id = $1") == "PREPARE");
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kStatements; i += round + 1) {
      CHECK(db.run("EXECUTE p" + std::to_string(i) + "(3)") == std::to_string(i + 3) + " SELECT 1");
      if (i % 7 == 0) db.run("EXECUTE p0(1)");
    }
  }
  db.run("DEALLOCATE ALL");
  CHECK(db.run("SELECT count(*) FROM people") == "12 SELECT 1");
}
