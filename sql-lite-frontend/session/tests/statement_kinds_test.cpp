#include "sql-lite-frontend/statement/statement_kinds.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/statement/testing/statement_samples.h"

namespace swizzle::sql {
namespace {

using Runs = StatementKind::Runs;

const StatementKind& kind_of(std::string_view text) {
  Arena arena;
  const auto script = parse_script(arena, std::string{text});
  REQUIRE(script.size() == 1);
  return kind_of_statement(*script[0]->stmt);
}

/// Returns the answer inside a transaction started by `begin`, and rolls it back.
std::string answer_after(TestDatabase& db, const char* begin, std::string_view text) {
  REQUIRE(db.run(begin) == "BEGIN");
  std::string answer = db.run(std::string{text});
  // Twice: a sample may have begun another transaction, or ended this one.
  db.run("ROLLBACK");
  db.run("ROLLBACK");
  return answer;
}

}  // namespace

TEST_CASE("a read-only transaction refuses the statements that PostgreSQL's refuses",
          "[sql][statements]") {
  TestDatabase db;
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    const std::string answer = answer_after(db, "BEGIN READ ONLY", sample.text);
    INFO(answer);
    CHECK(answer.starts_with("25006") == sample.writes);
    if (!sample.writes) continue;
    CHECK(answer ==
          "25006 cannot execute " + std::string{sample.tag} + " in a read-only transaction");
  }
}

TEST_CASE("a transaction block refuses the statements that PostgreSQL's refuses",
          "[sql][statements]") {
  TestDatabase db;
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    const std::string answer = answer_after(db, "BEGIN", sample.text);
    INFO(answer);
    CHECK(answer.starts_with("25001") != sample.outside_blocks.empty());
    if (sample.outside_blocks.empty()) continue;
    CHECK(answer ==
          "25001 " + std::string{sample.outside_blocks} + " cannot run inside a transaction block");
  }
}

TEST_CASE("unsupported statements are refused by the name that the table has",
          "[sql][statements][refusals]") {
  TestDatabase db;
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    const StatementKind& kind = kind_of(sample.text);
    if (kind.runs != Runs::unsupported || !sample.outside_blocks.empty()) continue;
    const std::string answer = answer_after(db, "BEGIN", sample.text);
    INFO(answer);
    const std::string_view name = kind.refused_as.empty() ? sample.tag : kind.refused_as;
    CHECK(answer.starts_with("0A000 " + std::string{name} + " "));
    CHECK(answer.ends_with("is not supported"));
  }
}

TEST_CASE("PL/pgSQL names a statement that is no query by its tag", "[sql][statements]") {
  TestDatabase db;
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    const Runs runs = kind_of(sample.text).runs;
    // Queries are planned first. EXPLAIN, SHOW and FETCH have rows, so PostgreSQL opens them.
    if (runs == Runs::planned || runs == Runs::transaction || sample.tag == "SELECT INTO") continue;
    const std::string answer = db.run("DO $x$ DECLARE c refcursor; BEGIN OPEN c FOR EXECUTE $q$" +
                                      std::string{sample.text} + "$q$; END $x$");
    CHECK(answer == "42P11 cannot open " + std::string{sample.tag} + " query as cursor");
  }
}

}  // namespace swizzle::sql
