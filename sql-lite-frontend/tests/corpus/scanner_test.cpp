// Compares the parser library's scanner with our readers of texts.
#include <pg_query.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/parse/literal_lifter.h"
#include "sql-lite-frontend/tests/corpus/script.h"

using namespace swizzle::sql;

namespace {

/// Returns the token kinds of a text by the library's scanner; empty if it reports an error. Whole
/// numbers beyond 32 bits, which it calls FCONST, count as ICONST.
std::vector<PgQueryToken> scanned(const std::string& text) {
  const PgQueryScanTokensResult result = pg_query_scan_tokens(text.c_str());
  std::vector<PgQueryToken> kinds;
  for (int i = 0; result.error == nullptr && i < result.n_tokens; ++i) {
    const auto& token = result.tokens[i];
    const auto size = static_cast<std::size_t>(token.end - token.start);
    const std::string_view piece =
        std::string_view{text}.substr(static_cast<std::size_t>(token.start), size);
    const bool is_whole =
        size > 10 && size <= 18 && piece.find_first_not_of("0123456789") == std::string_view::npos;
    kinds.push_back(is_whole ? PG_QUERY_TOKEN_ICONST : token.token);
  }
  pg_query_free_scan_tokens_result(result);
  return kinds;
}

}  // namespace

TEST_CASE("Lifted are the scanner's constants, and nothing else changes", "[parse][corpus]") {
  std::size_t shapes = 0;
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    if (entry.path().extension() != ".sql") continue;
    for (const corpus::Request& request : corpus::read_script(entry.path())) {
      const auto lifted = lift_literals(request.text);
      const std::vector<PgQueryToken> before = scanned(request.text);
      if (!lifted || before.empty()) continue;
      ++shapes;
      INFO(entry.path().filename().string() << ":" << request.line << " " << lifted->shape);
      std::vector<PgQueryToken> expected;
      std::size_t constants = 0;
      for (const PgQueryToken kind : before) {
        const bool is_constant = kind == PG_QUERY_TOKEN_SCONST || kind == PG_QUERY_TOKEN_ICONST;
        constants += is_constant ? 1 : 0;
        expected.push_back(is_constant ? PG_QUERY_TOKEN_PARAM : kind);
      }
      // Our readers drop a final semicolon.
      if (expected.back() == PG_QUERY_TOKEN_ASCII_59) expected.pop_back();
      CHECK(scanned(lifted->shape) == expected);
      CHECK(lifted->literals.size() == constants);
    }
  }
  CHECK(shapes > 1000);
}
