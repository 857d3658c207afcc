#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Values of set-returning functions are intact in each row, however the rows are used.
namespace swizzle::sql {
namespace {

/// Functions of each kind: those that compute row by row, and those that compute all rows at once.
/// @ stands for a number that another row may supply.
constexpr auto kCalls = {
    "generate_series(1, 40)",
    "generate_series(timestamp '2026-01-01', '2026-01-09', '1 day')",
    "unnest(ARRAY['one', 'two', left('three and more', 100 + @)])",
    "unnest(to_tsvector('english', 'each of them is a row of its own'))",
    "unnest('{[1,3), [7,9), [20,30)}'::int4multirange)",
    "regexp_matches('a1 b22 c333 d4444', '([a-z])([0-9]+)', 'g')",
    "regexp_split_to_table(left('a1 b22 c333 d4444', 100 + @), ' ')",
    "string_to_table('a,b,c,d', ',')",
    "jsonb_each('{\"a\": 1, \"b\": [2, 3], \"c\": \"text\", \"d\": null}')",
    "jsonb_each_text('{\"a\": 1, \"b\": [2, 3], \"c\": \"text\", \"d\": null}')",
    "json_each('{\"a\": 1, \"b\": [2, 3], \"c\": \"text\", \"d\": null}')",
    "jsonb_object_keys('{\"a\": 1, \"b\": [2, 3], \"c\": \"text\", \"d\": null}')",
    "jsonb_array_elements('[1, \"two\", {\"three\": 3}, [4]]')",
    "jsonb_array_elements_text('[1, \"two\", {\"three\": 3}, [4]]')",
    "jsonb_path_query('{\"a\": [1, \"two\", {\"three\": 3}]}', '$.a[*]')",
    "jsonb_populate_recordset(NULL::pair, '[{\"name\": \"x\"}, {\"n\": 2, \"name\": \"y\"}]')",
    "ts_parse('default', 'one two-three http://example.org/four')",
    "ts_token_type('default')",
    "ts_debug('english', left('the running dogs', 100 + @))",
    "pg_get_keywords()",
    "pg_timezone_abbrevs_abbrevs()",
    "pg_timezone_abbrevs_zone()",
    "pg_options_to_table(ARRAY['a=1', 'b=two', 'c=' || left('three', 100 + @)])",
    "aclexplode(left('{postgres=arwdDxt/postgres,=r/postgres}', 100 + @)::aclitem[])",
    "pg_get_publication_tables(left('all_of_them', 100 + @))",
    "pg_ls_waldir()",
    "named_rows()",
    "written_rows()",
};

std::string with_place(std::string call, const char* number) {
  for (std::size_t at = call.find('@'); at != std::string::npos; at = call.find('@', at))
    call.replace(at, 1, number);
  return call;
}

}  // namespace

TEST_CASE("The rows of a function are whole beside others and behind one another",
          "[sql][execute]") {
  TestDatabase db;
  const std::string made = db.run(
      "CREATE TYPE pair AS (n int, name text);"
      "CREATE TABLE first (id int, note text); CREATE TABLE second (id int, note text);"
      "CREATE TABLE third (id int); CREATE PUBLICATION all_of_them FOR ALL TABLES;"
      "CREATE FUNCTION named_rows() RETURNS SETOF pair LANGUAGE sql AS "
      "'SELECT g, repeat(''row'', g) FROM generate_series(1, 5) g';"
      "CREATE FUNCTION written_rows() RETURNS TABLE (n int, name text) LANGUAGE plpgsql AS "
      "$$ BEGIN FOR i IN 1..5 LOOP n := i; name := repeat('row', i); RETURN NEXT; END LOOP; END "
      "$$");
  REQUIRE(made.ends_with("CREATE FUNCTION CREATE FUNCTION"));
  std::size_t several = 0;
  for (const std::string text : kCalls) {
    INFO(text);
    const std::string call = with_place(text, "g");
    // Some return the server's state, which differs between calls.
    const bool is_new_each_time = call == "pg_ls_waldir()";
    const std::vector<std::string> alone =
        db.rows("SELECT r::text FROM " + with_place(text, "0") + " r");
    several += alone.size() > 1 ? 1U : 0U;
    std::vector<std::string> twice = alone;
    twice.insert(twice.end(), alone.begin(), alone.end());
    // Another value in the row that reuses memory of the row before.
    const std::string wide = "repeat(md5(r::text || g), 40)";
    for (const std::string& query :
         {"SELECT r::text FROM generate_series(1, 2) g, LATERAL " + call + " r WHERE length(" +
              wide + ") > 100",
          "SELECT s.t FROM (SELECT r::text AS t, " + wide +
              " AS w, g FROM generate_series(1, 2) g, LATERAL " + call +
              " r) s WHERE s.w <> '' ORDER BY s.g",
          "SELECT r::text FROM generate_series(1, 2) g LEFT JOIN LATERAL " + call +
              " r ON length(" + wide + ") > 100"}) {
      INFO(query);
      const std::vector<std::string> rows = db.rows(query);
      if (is_new_each_time) continue;
      CHECK(rows == twice);
    }
  }
  CHECK(several > kCalls.size() - 5);
}

}  // namespace swizzle::sql
