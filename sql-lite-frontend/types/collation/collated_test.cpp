#include "sql-lite-frontend/types/collation/collated.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

/// Returns the number of a built-in locale's collation.
std::uint32_t collation_of_locale(std::string_view locale) {
  const auto locales = builtin_locales();
  for (std::size_t i = 0; i < locales.size(); ++i) {
    if (locales[i] == locale) return collation_id::first_locale + static_cast<std::uint32_t>(i);
  }
  FAIL("no such locale");
  return 0;
}

constexpr std::uint32_t kIgnoringCase = 20'001;
TypeId ignoring_case() {
  note_collation(kIgnoringCase, {.locale = "und-u-ks-level2", .deterministic = false});
  return with_collation(TypeId::text, kIgnoringCase);
}

std::string key_of(TypeId type, const Value& value) {
  std::string key;
  append_key(key, {type, SortDirection::ascending, NullsOrder::last}, value);
  return key;
}
std::string key_of(TypeId type, std::string_view text) {
  return key_of(type, Value::from_text(text));
}
int order(TypeId type, std::string_view left, std::string_view right) {
  return compare_values(type, Value::from_text(left), Value::from_text(right));
}

}  // namespace

TEST_CASE("A collated type tells its string type and its collation", "[types][collation]") {
  const std::uint32_t swedish = collation_of_locale("sv");
  for (const TypeId type : {TypeId::text, TypeId::varchar, TypeId::bpchar, TypeId::name}) {
    const TypeId collated = with_collation(type, swedish);
    CHECK(is_collated(collated));
    CHECK(without_collation(collated) == type);
    CHECK(base_type(collated) == type);
    CHECK(collation_of_type(collated) == swedish);
    CHECK(default_collation(collated) == swedish);
    CHECK(format_type(collated) == format_type(type));
    CHECK(element_type(array_type(collated)) == collated);
    CHECK(without_collation(array_type(collated)) == array_type(type));
    CHECK(with_collation(collated, collation_id::c) == with_collation(type, collation_id::c));
  }
  CHECK(with_collation(TypeId::int4, swedish) == TypeId::int4);
  CHECK(default_collation(TypeId::text) == collation_id::by_default);
  CHECK(default_collation(TypeId::name) == collation_id::c);
  CHECK(default_collation(TypeId::int4) == 0);
}

TEST_CASE("Each locale has its own order, and the root's is not that of bytes",
          "[types][collation]") {
  const TypeId swedish = with_collation(TypeId::text, collation_of_locale("sv"));
  const TypeId german = with_collation(TypeId::text, collation_of_locale("de"));
  CHECK(order(swedish, "ö", "z") > 0);
  CHECK(order(german, "ö", "z") < 0);
  CHECK(order(german, "a", "B") < 0);
  CHECK(order(TypeId::text, "a", "B") > 0);
  CHECK(order(with_collation(TypeId::text, collation_id::c), "a", "B") > 0);
  CHECK(order(german, "a", "A") != 0);
  CHECK(order(ignoring_case(), "a", "A") == 0);
}

TEST_CASE("Bytes' own collations share the functions of plain text", "[types][collation]") {
  for (const std::uint32_t collation :
       {collation_id::by_default, collation_id::c, collation_id::posix, collation_id::ucs_basic}) {
    const TypeOrder& collated = value_type(with_collation(TypeId::text, collation)).order;
    const TypeOrder& plain = value_type(TypeId::text).order;
    CHECK(collated.compare == plain.compare);
    CHECK(collated.put_key == plain.put_key);
    CHECK(same_keys(TypeId::text, with_collation(TypeId::text, collation)));
  }
  CHECK_FALSE(same_keys(TypeId::text, with_collation(TypeId::text, collation_of_locale("sv"))));
  CHECK_FALSE(same_keys(with_collation(TypeId::text, collation_of_locale("de")),
                        with_collation(TypeId::text, collation_of_locale("sv"))));
}

TEST_CASE("Keys order as comparing does, and hold the text unless equals may differ",
          "[types][collation]") {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  const std::vector<std::string> letters{"a", "A", "ä", "Å", "ö", "z", "Z",  " ",  "-",
                                         "e", "é", "é", "ß", "s", "1", "10", "日", "😀"};
  const auto text = [&] {
    std::string out;
    for (std::size_t i = random() % 6; i > 0; --i) out += letters[random() % letters.size()];
    return out;
  };
  const TypeId types[] = {with_collation(TypeId::text, collation_of_locale("sv")),
                          with_collation(TypeId::bpchar, collation_of_locale("de")),
                          ignoring_case()};
  const auto sign = [](int number) { return (number > 0) - (number < 0); };
  for (int i = 0; i < 3000; ++i) {
    const std::string left = text();
    const std::string right = text();
    for (const TypeId type : types) {
      INFO(left << '|' << right);
      const int by = order(type, left, right);
      const std::string left_key = key_of(type, left);
      const std::string right_key = key_of(type, right);
      REQUIRE(sign(by) == sign(left_key.compare(right_key)));
      if (by == 0) {
        REQUIRE(hash_value(type, Value::from_text(left)) ==
                hash_value(type, Value::from_text(right)));
      } else {
        // No key is a prefix of another (T4).
        REQUIRE_FALSE(left_key.starts_with(right_key));
        REQUIRE_FALSE(right_key.starts_with(left_key));
      }
    }
  }
  const TypeId swedish = types[0];
  const std::string key = key_of(swedish, "Åre") + "rest";
  Bytes rest = as_bytes(key);
  Arena arena;
  CHECK(take_key(rest, {swedish}, arena).as_text() == "Åre");
  CHECK(as_text(rest) == "rest");
  CHECK_FALSE(key_keeps_value(ignoring_case()));
}

TEST_CASE("jsonb and citext have the order of a database that says so", "[types][collation]") {
  constexpr std::uint32_t kSwedish = collation_id::first_of_database + 77;
  constexpr std::uint32_t kFormer = collation_id::first_of_database + 78;
  note_collation(kSwedish, {.locale = "sv", .of_all = true});
  note_collation(kFormer, {.locale = "sv"});
  for (const TypeId type :
       {TypeId::jsonb, TypeId::jsonb_array, kCitextType, user_array_of(kCitextType)}) {
    const TypeId here = in_database(type, kSwedish);
    CHECK(is_collated(here));
    CHECK(without_collation(here) == type);
    CHECK(follows_database(here));
    CHECK_FALSE(is_collatable(type));
    CHECK(default_collation(here) == default_collation(type));
    CHECK_FALSE(same_keys(type, here));
    CHECK(in_database(type, collation_id::by_default) == type);
    CHECK(in_database(here, kFormer) == type);
    // Types created before are found again.
    CHECK(same_keys(type, with_collation(type, kFormer)));
    // No other collation can be applied.
    CHECK(with_collation(type, collation_of_locale("de")) == type);
  }
  CHECK(element_type(in_database(TypeId::jsonb_array, kSwedish)) ==
        in_database(TypeId::jsonb, kSwedish));
  CHECK(array_type(in_database(kCitextType, kSwedish)) ==
        in_database(user_array_of(kCitextType), kSwedish));
  CHECK(in_database(TypeId::text, kSwedish) == TypeId::text);
  const TypeId documents = in_database(TypeId::jsonb, kSwedish);
  CHECK(order(documents, R"("a")", R"("B")") < 0);
  CHECK(order(documents, R"(["ä"])", R"(["z"])") > 0);
  CHECK(order(documents, R"({"a": 1})", R"({"B": 1})") < 0);
  CHECK(order(documents, "1", R"("B")") > 0);
  const TypeId names = in_database(kCitextType, kSwedish);
  CHECK(order(names, "ÄRLA", "ärla") == 0);
  CHECK(order(names, "b", "A") > 0);
  CHECK(order(kCitextType, "ÄRLA", "ärla") != 0);
  CHECK(hash_value(names, Value::from_text("ÄRLA")) == hash_value(names, Value::from_text("ärla")));
  CHECK(key_of(names, "ÄRLA") == key_of(names, "ärla"));
}

TEST_CASE("Keys of jsonb in a database of a locale order as comparing does", "[types][collation]") {
  constexpr std::uint32_t kDatabase = collation_id::first_of_database + 79;
  note_collation(kDatabase, {.locale = "de", .of_all = true});
  const TypeId type = in_database(TypeId::jsonb, kDatabase);
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  const std::vector<std::string> scalars{"null",   "true",    "1",      "-2.5",  R"("")",
                                         R"("a")", R"("A")",  "0",      "10",    R"("ab")",
                                         R"("ä")", R"("aé")", R"("ß")", R"("b")"};
  const auto scalar = [&] { return scalars[random() % scalars.size()]; };
  const auto document = [&]() -> std::string {
    switch (random() % 4) {
      case 0:
        return "[]";
      case 1:
        return "[" + scalar() + ", " + scalar() + "]";
      case 2:
        return (random() % 2 == 0 ? R"({"a": )" : R"({"Ä": )") + scalar() + "}";
      default:
        return scalar();
    }
  };
  const auto sign = [](int number) { return (number > 0) - (number < 0); };
  for (int i = 0; i < 5000; ++i) {
    const std::string left = document();
    const std::string right = document();
    INFO(left << " and " << right);
    const int by = order(type, left, right);
    const std::string key = key_of(type, left);
    const std::string other = key_of(type, right);
    REQUIRE(sign(by) == sign(key.compare(other)));
    REQUIRE((by == 0) == (left == right));
    if (by != 0) {
      REQUIRE_FALSE(key.starts_with(other));
      REQUIRE_FALSE(other.starts_with(key));
    }
    Bytes rest = as_bytes(key);
    Arena arena;
    CHECK(take_key(rest, {type}, arena).as_text() == left);
    CHECK(rest.empty());
  }
}

TEST_CASE("Without a collation nothing is compared", "[types][collation]") {
  const TypeId nothing = with_collation(TypeId::text, collation_id::indeterminate);
  try {
    order(nothing, "a", "b");
    FAIL("it was compared");
  } catch (const SqlError& error) {
    CHECK(error.state() == sqlstate::indeterminate_collation);
  }
}

TEST_CASE("Letters change their case as the locale has it", "[types][collation]") {
  CHECK(icu_change_case("tr", LetterCase::upper, "istanbul") == "İSTANBUL");
  CHECK(icu_change_case("en", LetterCase::upper, "istanbul ß") == "ISTANBUL SS");
  CHECK(icu_change_case("und", LetterCase::lower, "ÄÖ") == "äö");
  CHECK(icu_change_case("und", LetterCase::initial, "über alles") == "Über Alles");
  CHECK(icu_change_case("und", LetterCase::folded, "Äß") == "äss");
  CHECK(icu_change_case("tr", LetterCase::folded, "Iİ") == "ıi");
}

}  // namespace swizzle::sql
