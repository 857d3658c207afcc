#include "sql-lite-frontend/query/parse/long_identifiers.h"

#include <catch2/catch.hpp>

namespace swizzle::sql {
namespace {

const std::string kLong(64, 'a');

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Names that are too long are found wherever they stand", "[sql][parse]") {
  for (std::size_t before = 0; before < 130; ++before) {
    INFO(before);
    const std::string text = std::string(before, ' ') + kLong + " x";
    CHECK(long_identifiers(text) == Names{kLong});
  }
  CHECK(long_identifiers("select " + std::string(63, 'a')).empty());
  CHECK(long_identifiers("select " + std::string(64, 'A')) == Names{kLong});
  CHECK(long_identifiers("select \"" + std::string(64, 'A') + "\"") == Names{std::string(64, 'A')});
  CHECK(long_identifiers("select \"" + std::string(64, ' ') + "\"") == Names{std::string(64, ' ')});
  const std::string half(40, 'x');
  CHECK(long_identifiers("select \"" + half + "\"\"" + half + "\"") == Names{half + "\"" + half});
}

TEST_CASE("What is quoted or a comment is no name", "[sql][parse]") {
  for (const std::string& text :
       {"select '" + kLong + "'", "select E'\\'" + kLong + "'", "select $$" + kLong + "$$",
        "select $t$" + kLong + "$t$", "select 1 -- " + kLong, "select 1 /* /* */ " + kLong + " */",
        "select '\"' || '" + std::string(64, ' ') + "\"'"}) {
    INFO(text);
    CHECK(long_identifiers(text).empty());
  }
  CHECK(long_identifiers("select $1, " + kLong) == Names{kLong});
  CHECK(long_identifiers("select 'it''s', " + kLong) == Names{kLong});
}

TEST_CASE("A name is not cut within a letter", "[sql][parse]") {
  const std::string name = std::string(62, 'a') + "\u00e4b";
  CHECK(cut_identifier(name) == std::string(62, 'a'));
  CHECK(cut_identifier(kLong) == std::string(63, 'a'));
}

}  // namespace swizzle::sql
