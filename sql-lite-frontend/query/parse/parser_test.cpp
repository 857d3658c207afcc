#include "sql-lite-frontend/query/parse/parser.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/script.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

Diagnostic parse_failure(const std::string& text) {
  Arena arena;
  try {
    parse_script(arena, text);
  } catch (const SqlError& error) {
    return to_diagnostic(error, text);
  }
  FAIL("parsed: " << text);
  return {};
}

}  // namespace

TEST_CASE("A point SELECT becomes our tree", "[sql][parse]") {
  Arena arena;
  const std::string text = "SELECT abalance FROM pgbench_accounts WHERE aid = 42";
  const auto statements = parse_script(arena, text);
  REQUIRE(statements.size() == 1);
  const auto& select = ast::as<ast::SelectStmt>(statements[0]->stmt);
  REQUIRE(select.target_list.size() == 1);
  const auto& table = ast::as<ast::RangeVar>(select.from_clause[0]);
  CHECK(table.relname == "pgbench_accounts");
  const auto& where = ast::as<ast::A_Expr>(select.where_clause);
  CHECK(ast::string_of(where.name[0]) == "=");
  const auto& constant = ast::as<ast::A_Const>(where.rexpr);
  REQUIRE(constant.ival != nullptr);
  CHECK(constant.ival->ival == 42);
  CHECK(constant.location == 50);
}

TEST_CASE("A statement is found in its script by how many came before it", "[sql][parse]") {
  const std::string_view script =
      " SELECT ';' ; /* 2 */ SELECT 'ä;'\n;; INSERT INTO t VALUES (1) ;\n";
  CHECK(statement_after(script, 0) == "SELECT ';'");
  CHECK(statement_after(script, 1) == "SELECT 'ä;'");
  CHECK(statement_after(script, 2) == "INSERT INTO t VALUES (1)");
  CHECK(statement_after(script, 3) == script);
  for (const std::string_view whole :
       {"", ";", "SELECT 1", "SELECT 1 ; ", "SELECT 1; SELEC 2", "SELECT ';"}) {
    CHECK(statement_after(whole, 0) == whole);
  }
  std::string longest = "SELECT 1; ";
  longest.append(100'000, ' ');
  CHECK(statement_after(longest += "SELECT 2", 1) == longest);
}

TEST_CASE("Scripts are cut into their statements", "[sql][parse]") {
  Arena arena;
  const std::string text = "begin ; insert into t values (1, 'ä'); ;end";
  const auto statements = parse_script(arena, text);
  REQUIRE(statements.size() == 3);
  CHECK(statement_text(text, *statements[0]) == "begin");
  CHECK(statement_text(text, *statements[1]) == "insert into t values (1, 'ä')");
  CHECK(statement_text(text, *statements[2]) == "end");
  CHECK(parse_script(arena, "  ; -- nothing\n").empty());
}

TEST_CASE("Syntax errors have PostgreSQL's text and count characters", "[sql][parse]") {
  Diagnostic error = parse_failure("SELEKT 1");
  CHECK(error.message == "syntax error at or near \"SELEKT\"");
  CHECK(error.state.code() == "42601");
  CHECK(error.position == 1);
  error = parse_failure("SELECT 'äöü' FROM FROM");
  CHECK(error.message == "syntax error at or near \"FROM\"");
  CHECK(error.position == 19);
  error = parse_failure("SELECT 'open");
  CHECK(error.message == "unterminated quoted string at or near \"'open\"");
  CHECK(error.position == 8);
  error = parse_failure("SELECT (1");
  CHECK(error.message == "syntax error at end of input");
  CHECK(error.position == 10);
}

TEST_CASE("Nesting beyond the stack is an error", "[sql][parse]") {
  std::string text = "SELECT 1";
  for (int i = 0; i < 1'000'000; ++i) text += "+1";
  CHECK(parse_failure(text).state.code() == "54001");
  // A text that exhausts the grammar's stack is a syntax error, as in PostgreSQL.
  const auto error = parse_failure("SELECT " + std::string(20'000, '('));
  CHECK(error.state.code() == "42601");
  CHECK(error.message == "memory exhausted at or near \"(\"");
}

TEST_CASE("Trees that differ in their places alone are described alike", "[sql][parse]") {
  for (const std::string text :
       {"SELECT a IN (1, 2), ARRAY[1, 2], ARRAY[[b]], f(x => 1) OVER w FROM t WINDOW w AS (ORDER "
        "BY a)",
        "CREATE TABLE t (a int NOT NULL CHECK (a > 0) DEFAULT 1, PRIMARY KEY (a))",
        "CREATE FUNCTION f(a int DEFAULT 1) RETURNS int LANGUAGE sql AS 'x'", "NOTIFY a, 'b'",
        "SET x = 1", "DEALLOCATE a", "ROLLBACK TO s", "EXPLAIN (VERBOSE) VALUES (1)",
        "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
        "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a RETURNING *"}) {
    std::string spaced = "  ";
    for (const char letter : text) spaced += letter == ' ' ? "   " : std::string{letter};
    INFO(text);
    std::string one;
    std::string other;
    Arena arena;
    ast::describe(*parse_script(arena, text)[0], one);
    ast::describe(*parse_script(arena, spaced)[0], other);
    CHECK(one == other);
    CHECK(one.size() > 10);
  }
}

TEST_CASE("Every node kind of the grammar has a name", "[sql][parse]") {
  for (std::uint16_t kind = 1; kind <= ast::kLastNodeKind; ++kind) {
    CHECK(ast::node_name(static_cast<ast::NodeKind>(kind)) != "none");
  }
}
