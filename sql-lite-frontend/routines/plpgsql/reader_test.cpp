// Limits of depth and length of PL/pgSQL bodies. Errors in bodies are in the corpus:
// plpgsql_faults.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

/// A construct that may be nested within itself.
struct Within {
  std::string_view before;
  std::string_view after;
};
constexpr Within kWithin[] = {
    {"begin ", " end;"},
    {"if true then ", " end if;"},
    {"loop ", " exit; end loop;"},
    {"while true loop ", " exit; end loop;"},
    {"for i in 1 .. 1 loop ", " end loop;"},
    {"case when true then ", " end case;"},
    {"begin ", " exception when others then null; end;"},
    {"declare x int; begin ", " end;"},
};

TEST_CASE("a body of any depth runs or is too deep, and ends nothing but itself",
          "[sql][plpgsql][reader]") {
  TestDatabase database;
  for (const Within& within : kWithin) {
    CAPTURE(within.before);
    const auto body = [&](std::size_t depth) {
      return "DO $$ begin " + times(depth, within.before) + "null;" + times(depth, within.after) +
             " end $$";
    };
    CHECK(database.run(body(100)).starts_with("DO"));
    // The possible depth depends on the stack; sessions of a server have less of it.
    const std::string deep = database.run(body(10'000));
    CHECK((deep == "DO" || deep.starts_with("54001")));
    CHECK(database.run(body(200'000)).starts_with("54001"));
    CHECK(database.run("SELECT 1").find("1") != std::string::npos);
  }
}

TEST_CASE("a body of very many steps runs", "[sql][plpgsql][reader]") {
  TestDatabase database;
  CHECK(database
            .run("DO $$ declare n int := 0; begin " + times(10'000, "n := n + 1; ") +
                 "if n <> 10000 then raise 'lost some'; end if; end $$")
            .starts_with("DO"));
}

}  // namespace
}  // namespace swizzle::sql
