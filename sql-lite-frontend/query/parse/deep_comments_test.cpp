#include "sql-lite-frontend/query/parse/deep_comments.h"

#include <catch2/catch.hpp>

namespace swizzle::sql {
namespace {

std::string nested(int levels) {
  std::string out;
  for (int i = 0; i < levels; ++i) out += "/*";
  for (int i = 0; i < levels; ++i) out += "*/";
  return out;
}

}  // namespace

TEST_CASE("deep comments become blanks, in place", "[parse]") {
  const std::string deep = nested(1000);
  const std::string text = "select 1 " + deep + " + 2 -- " + deep;
  const auto changed = without_deep_comments(text);
  REQUIRE(changed);
  CHECK(*changed == "select 1 " + std::string(deep.size(), ' ') + " + 2 -- " + deep);
}

TEST_CASE("what only looks like a deep comment stays", "[parse]") {
  const std::string deep = nested(1000);
  for (const std::string& text :
       {"select '" + deep + "'", "select \"" + deep + "\"", "select $$" + deep + "$$",
        "select $a$ $$ " + deep + " $a$", "select E'\\'" + deep + "'", "-- " + deep,
        "select 'it''s " + deep + "'", nested(3)}) {
    CAPTURE(text.substr(0, 20));
    CHECK_FALSE(without_deep_comments(text));
  }
  // The comment does not end: leave the error to the parser.
  CHECK_FALSE(without_deep_comments("select 1 " + deep.substr(0, 1900)));
  CHECK(without_deep_comments("select E'\\\\' " + deep));
  CHECK(without_deep_comments("select 'a' " + deep));
}

}  // namespace swizzle::sql
