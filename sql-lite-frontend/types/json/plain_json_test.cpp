#include "sql-lite-frontend/types/json/plain_json.h"

#include <catch2/catch.hpp>
#include <random>

#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/random_json.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

/// Returns the full reader's answer. Leading blanks make the text too long for the fast path.
std::string by_reader(std::string_view text) {
  try {
    check_json(std::string(300 * 1024, ' ').append(text), TypeId::json);
    return {};
  } catch (const SqlError& error) {
    return error.error().message();
  }
}

}  // namespace

TEST_CASE("What is plainly JSON is JSON for the reader, too", "[sql][json]") {
  int plain = 0;
  int broken = 0;
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::size_t n) { return random() % n; };
    const std::string text = random_json(random, 5);
    if (text.size() > 2000) continue;
    CAPTURE(seed, text);
    REQUIRE(by_reader(text).empty());
    plain += is_plain_json(text) ? 1 : 0;
    for (int i = 0; i < 4; ++i) {
      std::string changed = text;
      const auto at = below(changed.size());
      constexpr std::string_view kBytes =
          "{}[],:\"\\0123456789.-+eEtfnul \t\n\r\x01\x7f\x80\xc3\xed\xef\xff";
      switch (below(3)) {
        case 0:
          changed[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          changed.erase(at, 1 + below(3));
          break;
        default:
          changed.insert(at, 1, kBytes[below(kBytes.size())]);
      }
      CAPTURE(changed);
      if (is_plain_json(changed)) REQUIRE(by_reader(changed).empty());
      broken += by_reader(changed).empty() ? 0 : 1;
    }
  }
  CHECK(plain > 1000);
  CHECK(broken > 1000);
}

TEST_CASE("Only the reader takes what the short way does not", "[sql][json]") {
  // Not deeper: frames are large in the sanitizers' builds.
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  for (const std::string& text :
       {std::string{"1e4000"}, std::string{"123456789012345678901234567890"},
        std::string{R"("\ud800")"}, std::string{R"("\u0000")"}, deep}) {
    CAPTURE(text);
    CHECK(by_reader(text).empty());
    CHECK_NOTHROW(check_json(text, TypeId::json));
  }
  for (const char* text : {"\xef\xbb\xbf{}", "", " ", "{\"a\":1,}", "[1 2]", "01", "1.", "-", "nul",
                           "\"\x01\"", "\"\\x\"", "{} {}", "{1:2}"}) {
    CAPTURE(text);
    CHECK_FALSE(is_plain_json(text));
    CHECK_FALSE(by_reader(text).empty());
  }
}
