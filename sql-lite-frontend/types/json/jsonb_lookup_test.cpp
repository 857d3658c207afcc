#include "sql-lite-frontend/types/json/jsonb_lookup.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_assignment.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/random_json.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr JsonbDirectoryRules kSomeParts{.least_bytes = 40, .stride = 30};

std::optional<std::string_view> text_of(const std::optional<Jsonb>& part) {
  return part ? std::optional{part->text} : std::nullopt;
}

}  // namespace

TEST_CASE("a part of jsonb is found as in any JSON", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  const DirectoriesBy rules{GENERATE(kEveryPart, kSomeParts, JsonbDirectoryRules{})};
  for (int i = 0; i < 10'000; ++i) {
    const std::string json = canonical_json(random_json(random, 3));
    CAPTURE(json);
    Arena arena;
    const Value value = make_jsonb(arena, json);
    const Jsonb whole = jsonb_of(value);
    for (const std::string key :
         {"a", "b", "ac", "q\"", "\\", "\n", "", "name", "\\n", "a long key of twenty", "zzzzz"})
      REQUIRE(text_of(jsonb_member(whole, key)) == json_member(json, key));
    for (const int index : {0, 1, 3, -1, -2, -9})
      REQUIRE(text_of(jsonb_element(whole, index)) == json_element(json, index));
  }
}

TEST_CASE("an assignment to a part of jsonb is one to the whole taken apart", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  const DirectoriesBy rules{GENERATE(kEveryPart, kSomeParts, JsonbDirectoryRules{})};
  const std::vector<std::string> steps = {"a", "b", "ab", "q\"", "name",
                                          "0", "1", "-1", "4",   "zzzzz"};
  for (int i = 0; i < 10'000; ++i) {
    const std::string json = canonical_json(random_json(random, 3));
    const std::string part = canonical_json(random_json(random, 1));
    std::vector<std::string> path;
    for (std::size_t n = 1 + random() % 3; n > 0; --n)
      path.push_back(steps[random() % steps.size()]);
    CAPTURE(json, part, path);
    Arena arena;
    const auto assigned = [&](auto assign) -> std::string {
      try {
        return std::string{json_text(assign())};
      } catch (const SqlError& error) {
        return error.what();
      }
    };
    const Value whole = make_jsonb(arena, json);
    const Value value = make_jsonb(arena, part);
    CHECK(assigned([&] { return json_assign(arena, whole, path, false, value); }) ==
          assigned([&] { return json_assign_apart(arena, whole, path, false, value); }));
  }
}

TEST_CASE("containment is the same with directories and without", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  int held = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string json = canonical_json(random_json(random, 3));
    const std::string part = canonical_json(random_json(random, 2));
    CAPTURE(json, part);
    Arena arena;
    const DirectoriesBy rules{kEveryPart};
    const Value value = make_jsonb(arena, json);
    const bool contains = jsonb_contains(Jsonb{json}, part);
    held += contains ? 1 : 0;
    REQUIRE(jsonb_contains(jsonb_of(value), part) == contains);
    REQUIRE(jsonb_contains(jsonb_of(value), json));
  }
  CHECK(held > 100);
}

}  // namespace swizzle::sql
