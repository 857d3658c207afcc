// Tokens of a body, and the program of a body with every kind of step.
#include "sql-lite-frontend/routines/plpgsql/scanner.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::plpgsql {
namespace {

std::string words_of(std::string_view body) {
  std::string text;
  for (const Token& token : scan(body)) {
    constexpr std::string_view kKinds = ".wqsnp+";
    if (!text.empty()) text += ' ';
    text += kKinds[static_cast<std::size_t>(token.kind)];
    text += token.text;
  }
  return text;
}

TEST_CASE("words, names, strings, numbers and signs", "[sql][plpgsql][scanner]") {
  CHECK(words_of("") == ".");
  CHECK(words_of("BEGIN Null; END") == "wbegin wnull +; wend .");
  CHECK(words_of("x := \"A b\".\"q\"\"r\";") == "wx +:= qA b +. qq\"r +; .");
  CHECK(words_of("'it''s' E'a\\n' $$a'b$$ $t$ $$ $t$") == "sit's sa\n sa'b s $$  .");
  CHECK(words_of("1 2.5 1..3 .5 1e3") == "n1 n2.5 n1 +.. n3 n.5 n1e3 .");
  CHECK(words_of("$1 a[1:2] <<l>> %type") == "p$1 wa +[ n1 +: n2 +] +<< wl +>> +% wtype .");
  CHECK(words_of("a -- b\n/* c /* d */ e */ f") == "wa wf .");
  // An operator ends with a sign only if it contains one of certain other characters.
  CHECK(words_of("a<>b a>=-1") == "wa +<> wb wa +>= +- n1 .");
}

TEST_CASE("quotations that do not end are errors at their beginning", "[sql][plpgsql][scanner]") {
  for (const std::string_view body : {"x 'abc", "x \"abc", "x $$abc", "x /* abc"}) {
    CAPTURE(body);
    try {
      static_cast<void>(scan(body));
      FAIL("it was read");
    } catch (const SqlError& error) {
      CHECK(error.state() == sqlstate::syntax_error);
      CHECK(error.fields().position == 3);
    }
  }
}

TEST_CASE("lines are counted from 1", "[sql][plpgsql][scanner]") {
  CHECK(line_of("a\nb\nc", 0) == 1);
  CHECK(line_of("a\nb\nc", 2) == 2);
  CHECK(line_of("a\nb\nc", 5) == 3);
  std::vector<int> lines;
  for (const Token& token : scan("a\n  'x\ny' b -- \n\n/*\n*/ c")) lines.push_back(token.line);
  CHECK(lines == std::vector{1, 2, 3, 6, 6});
}

TEST_CASE("a step of every kind is read, and runs where its line says", "[sql][plpgsql][reader]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
  CHECK(
      db.run("CREATE FUNCTION every(n int, OUT x int, OUT y text) LANGUAGE plpgsql AS $f$\n"
             "#variable_conflict use_variable\n"
             "<<outer>> DECLARE i int := n; r record; c CURSOR (k int) FOR SELECT a FROM t WHERE "
             "a > k; l t.b%TYPE COLLATE \"C\"; w t%ROWTYPE; al ALIAS FOR n; z int[] := '{1,2,3}';\n"
             "BEGIN\n"
             "  INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 3) g;\n"
             "  FOR i IN REVERSE 3 .. 1 BY 2 LOOP CONTINUE WHEN i = 3; x := i; END LOOP;\n"
             "  FOR r IN SELECT * FROM t ORDER BY a LOOP y := r.b; EXIT outer WHEN r.a > 100; END "
             "LOOP;\n"
             "  FOREACH i IN ARRAY z LOOP x := x + i; END LOOP;\n"
             "  z[2:3] := ARRAY[7, 8];\n"
             "  OPEN c(1); FETCH c INTO i; MOVE NEXT FROM c; CLOSE c;\n"
             "  SELECT * INTO STRICT w FROM t WHERE a = 2;\n"
             "  CASE w.a WHEN 1, 2 THEN l := w.b; ELSE NULL; END CASE;\n"
             "  WHILE i < 5 LOOP i := i + 1; END LOOP;\n"
             "  EXECUTE 'SELECT $1 + 1' INTO i USING i;\n"
             "  GET DIAGNOSTICS i = ROW_COUNT;\n"
             "  BEGIN RAISE division_by_zero USING MESSAGE = 'no'; EXCEPTION WHEN OTHERS THEN y := "
             "sqlerrm; END;\n"
             "  ASSERT al = n, 'alias';\n"
             "  PERFORM 1; IF i = 1 THEN x := x + z[2]; ELSIF false THEN NULL; ELSE NULL; END IF;\n"
             "  y := y || ' ' || l;\n"
             "  RETURN;\n"
             "END outer $f$") == "CREATE FUNCTION");
  CHECK(db.run("SELECT * FROM every(1)") == "14|no row 2 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM t") == "3 SELECT 1");
  CHECK_THAT(db.run("SELECT * FROM every(1)"), Catch::StartsWith("23505"));
}

}  // namespace
}  // namespace swizzle::sql::plpgsql
