#include "sql-lite-frontend/types/json/jsonb_directory.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/jsonb_lookup.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"
#include "sql-lite-frontend/types/json/random_json.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Rules = JsonbDirectoryRules;

/// Checks that every entry is the beginning of a part, that entries have the required distance, and
/// that long parts at all depths have their own directories.
void check_directory(const Jsonb& whole, const Rules& rules) {
  if (whole.directory.empty()) return;
  REQUIRE(whole.text.size() >= rules.least_bytes);
  const JsonbDirectory directory{whole};
  std::uint32_t entry = 0;
  std::uint32_t number = 0;
  std::size_t last = 1;
  for (JsonbParts has{whole.text}; has.next(); ++number) {
    const bool is_object = whole.text[0] == '{';
    const std::string_view from = is_object ? has.key() : has.value();
    const auto place = static_cast<std::size_t>(from.data() - whole.text.data());
    if (place - last >= rules.stride) {
      REQUIRE(entry < directory.entries());
      REQUIRE(directory.place(entry) == place);
      if (is_object) REQUIRE(directory.key(entry) == has.key());
      if (!is_object) REQUIRE(directory.number(entry) == number);
      last = place;
      ++entry;
    }
    const Jsonb part = directory.part(has.value());
    REQUIRE(part.text == has.value());
    const std::string alone = jsonb_directory(has.value(), nullptr);
    REQUIRE(as_text(part.directory) == alone);
    check_directory(part, rules);
  }
  REQUIRE(entry == directory.entries());
  REQUIRE(directory.size() == number);
}

std::string long_object(std::size_t members) {
  std::string json = "{";
  for (std::size_t i = 0; i < members; ++i) {
    json +=
        (i == 0 ? "" : ",") + ("\"key " + std::to_string(i)) + "\": [" + std::to_string(i) + "]";
  }
  return canonical_json(json + "}");
}

}  // namespace

TEST_CASE("a directory leads to parts of its text", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  for (const Rules& rules : {kEveryPart, Rules{.least_bytes = 20, .stride = 30}, Rules{}}) {
    const DirectoriesBy by{rules};
    for (int i = 0; i < 3'000; ++i) {
      const std::string json = canonical_json(random_json(random, 4));
      CAPTURE(json);
      Arena arena;
      const Value value = make_jsonb(arena, json);
      REQUIRE(json_text(value) == json);
      check_directory(jsonb_of(value), rules);
    }
  }
}

TEST_CASE("places of long texts take four bytes", "[json]") {
  for (const std::size_t members : {std::size_t{3'000}, std::size_t{4'000}, std::size_t{50'000}}) {
    Arena arena;
    const std::string json = long_object(members);
    const Value value = make_jsonb(arena, json);
    const Jsonb whole = jsonb_of(value);
    check_directory(whole, {});
    CHECK(jsonb_directory(json, nullptr).size() < json.size() / 30);
    const auto last = jsonb_member(whole, "key " + std::to_string(members - 1));
    REQUIRE(last);
    CHECK(last->text == "[" + std::to_string(members - 1) + "]");
  }
}

TEST_CASE("a part is kept with its own directory", "[json]") {
  Arena arena;
  const std::string inner = long_object(60);
  const Value outer = make_jsonb(arena, canonical_json(R"({"a": 1, "b": )" + inner + "}"));
  const auto part = jsonb_member(jsonb_of(outer), "b");
  REQUIRE(part);
  CHECK_FALSE(part->directory.empty());
  const Value kept = make_jsonb(arena, *part);
  CHECK(as_text(kept.as_bytes()) == as_text(make_jsonb(arena, inner).as_bytes()));
}

TEST_CASE("a depth of thousands has directories within directories that stay short", "[json]") {
  constexpr std::size_t kDepth = 3'000;
  const std::string json = std::string(kDepth, '[') + std::string(kDepth, ']');
  const DirectoriesBy by{kEveryPart};
  Arena arena;
  const Value value = make_jsonb(arena, json);
  CHECK(json_text(value) == json);
  CHECK(value.as_bytes().size() < json.size() + kDepth * 16);
}

TEST_CASE("bytes that are no directory are refused or lead to text within", "[json]") {
  std::mt19937 random{static_cast<unsigned>(test_seed())};
  const DirectoriesBy by{kEveryPart};
  Arena arena;
  for (int i = 0; i < 20'000; ++i) {
    const std::string json = canonical_json(random_json(random, 3));
    const Value value = make_jsonb(arena, json);
    std::string bytes{value.as_text()};
    const std::size_t directory = bytes.size() - json.size();
    if (directory == 0) continue;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
      bytes[1 + random() % (directory - 1)] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(1 + random() % bytes.size());
    try {
      const Jsonb whole = jsonb_of(Value::from_text(bytes));
      for (const std::string_view key : {"a", "name", "zzz"}) {
        const auto part = jsonb_member(whole, key);
        if (part) REQUIRE(part->text.data() + part->text.size() <= bytes.data() + bytes.size());
      }
      for (const int index : {0, 1, -1}) {
        const auto part = jsonb_element(whole, index);
        if (part) REQUIRE(part->text.data() + part->text.size() <= bytes.data() + bytes.size());
      }
    } catch (const SqlError& error) {
      REQUIRE(error.state() == SqlState{"XX001"});
    }
    arena.reset();
  }
}

}  // namespace swizzle::sql
