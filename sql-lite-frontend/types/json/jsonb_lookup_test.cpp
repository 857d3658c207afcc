#include "sql-lite-frontend/types/json/jsonb_lookup.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_assignment.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string random_value(std::mt19937& random, int depth) {
  constexpr const char* kScalars[] = {
      "1",      "-2.50",     "null",    "true",
      R"("a")", R"("q\"}")", R"("\\")", R"("a longer text, with [brackets] and {braces} in it")"};
  constexpr const char* kKeys[] = {"a",     "b",     "aa", "ab",   R"(q\")",
                                   R"(\\)", R"(\n)", "",   "name", "a long key of twenty"};
  const auto below = [&](std::size_t n) { return random() % n; };
  if (depth == 0 || below(3) == 0) return kScalars[below(std::size(kScalars))];
  const bool is_object = below(2) == 0;
  std::string out = is_object ? "{" : "[";
  for (std::size_t i = below(6); i > 0; --i) {
    if (out.size() > 1) out += ",";
    if (is_object) out += std::string{"\""} + kKeys[below(std::size(kKeys))] + "\":";
    out += random_value(random, depth - 1);
  }
  return out + (is_object ? "}" : "]");
}

}  // namespace

TEST_CASE("a part of jsonb is found as in any JSON", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  for (int i = 0; i < 20'000; ++i) {
    const std::string json = canonical_json(random_value(random, 3));
    CAPTURE(json);
    for (const std::string key :
         {"a", "b", "ac", "q\"", "\\", "\n", "", "name", "\\n", "a long key of twenty", "zzzzz"})
      REQUIRE(jsonb_member(json, key) == json_member(json, key));
    for (const int index : {0, 1, 3, -1, -2, -9})
      REQUIRE(jsonb_element(json, index) == json_element(json, index));
  }
}

TEST_CASE("an assignment to a part of jsonb is one to the whole taken apart", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  const std::vector<std::string> steps = {"a", "b", "ab", "q\"", "name",
                                          "0", "1", "-1", "4",   "zzzzz"};
  for (int i = 0; i < 20'000; ++i) {
    const std::string json = canonical_json(random_value(random, 3));
    const std::string part = canonical_json(random_value(random, 1));
    std::vector<std::string> path;
    for (std::size_t n = 1 + random() % 3; n > 0; --n)
      path.push_back(steps[random() % steps.size()]);
    CAPTURE(json, part, path);
    Arena arena;
    const auto assigned = [&](auto assign) -> std::string {
      try {
        return std::string{assign().as_text()};
      } catch (const SqlError& error) {
        return error.what();
      }
    };
    const Value whole = make_text(arena, json);
    const Value value = make_text(arena, part);
    CHECK(assigned([&] { return json_assign(arena, whole, path, false, value); }) ==
          assigned([&] { return json_assign_apart(arena, whole, path, false, value); }));
  }
}

}  // namespace swizzle::sql
