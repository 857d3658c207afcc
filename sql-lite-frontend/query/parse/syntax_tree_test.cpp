#include "sql-lite-frontend/query/parse/syntax_tree.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

/// Returns the error's SQLSTATE; nothing if there is none.
std::string state_of(const auto& work) {
  try {
    work();
    return {};
  } catch (const SqlError& error) {
    return std::string{error.state().code()};
  }
}

std::string repeated(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

}  // namespace

TEST_CASE("A tree's memory is charged to an account, and given back", "[sql][parse][memory]") {
  MemoryTotal total;
  MemoryAccount account{total};
  account.set_limit(std::size_t{8} << 20U);
  const auto read = [&](const std::string& text) {
    return state_of([&] { const SyntaxTree tree{text, &account}; });
  };
  // Memory in nodes and lists, in one piece, and in pieces that grow.
  CHECK(read("INSERT INTO t VALUES (1)" + repeated(", (1)", 100'000)) == "53200");
  CHECK(read("SELECT '" + std::string(std::size_t{9} << 20U, 'x') + "'") == "53200");
  CHECK(read("SELECT 1" + repeated(" || ''''", 40'000)) == "53200");
  CHECK(account.used_bytes() == 0);
  CHECK(read("SELECT 1" + repeated(", 1", 1000)).empty());
  {
    const SyntaxTree tree{"SELECT 1", &account};
    CHECK(account.used_bytes() > 0);
  }
  CHECK(account.used_bytes() == 0);
}

TEST_CASE("An error has the library's state, detail and hint", "[sql][parse]") {
  const SyntaxTree tree{"SELECT U&'\\00'"};
  REQUIRE(tree.error());
  CHECK(tree.error()->state.code() == "42601");
  CHECK(tree.error()->message == "invalid Unicode escape");
  CHECK(tree.error()->hint == "Unicode escapes must be \\XXXX or \\+XXXXXX.");
  CHECK(tree.error()->character_position == 11);
  CHECK(tree.statements() == nullptr);
}

TEST_CASE("What nests deeper than the stack is not printed", "[sql][parse][stack]") {
  const std::string view = "CREATE VIEW v AS SELECT 1";
  for (const std::string& text :
       {view + repeated(" + 1", 1'000'000), view + " FROM t" + repeated(" CROSS JOIN t", 300'000),
        view + repeated(" UNION SELECT 1", 300'000)}) {
    CHECK(state_of([&] { static_cast<void>(printed_view_query(text, 0)); }) == "54001");
  }
  CHECK(printed_view_query(view + repeated(" + 1", 100), 0).size() > 400);
  CHECK(
      printed_view_query("CREATE VIEW v AS SELECT " + repeated("NOT ", 100'000) + "a", 0).empty());
}

TEST_CASE("Parts of definitions are printed without the rest", "[sql][parse]") {
  const std::string script =
      "SELECT 1; CREATE VIEW v AS TABLE t; CREATE MATERIALIZED VIEW m AS "
      "SELECT a FROM t ORDER BY 1 FETCH FIRST (1 + 2) ROWS WITH TIES";
  CHECK(printed_view_query(script, 0).empty());
  CHECK(printed_view_query(script, 10) == "SELECT * FROM t");
  CHECK(printed_view_query(script, 36) ==
        "SELECT a FROM t ORDER BY 1 FETCH FIRST (1 + 2) ROWS WITH TIES");
  const std::string policy = "CREATE POLICY p ON t USING (a > 1 AND b LIKE 'x%') WITH CHECK (c)";
  CHECK(printed_policy_condition(policy, 0, PolicyClause::using_rows) ==
        "SELECT a > 1 AND b LIKE 'x%'");
  CHECK(printed_policy_condition(policy, 0, PolicyClause::with_check) == "SELECT c");
  CHECK(printed_policy_condition("ALTER POLICY p ON t USING (a)", 0, PolicyClause::with_check)
            .empty());
}
