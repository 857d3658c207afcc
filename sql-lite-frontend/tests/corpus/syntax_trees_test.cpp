// The library's trees as we pack them, beside its own packing.
#include <pg_query.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/parse/decoder.h"
#include "sql-lite-frontend/query/parse/literal_lifter.h"
#include "sql-lite-frontend/query/parse/syntax_tree.h"
#include "sql-lite-frontend/tests/corpus/script.h"

using namespace swizzle::sql;

namespace {

/// Nothing where it finds an error.
std::optional<std::string> packed_by_library(const std::string& text) {
  const PgQueryProtobufParseResult result = pg_query_parse_protobuf(text.c_str());
  std::optional<std::string> bytes;
  if (result.error == nullptr) bytes.emplace(result.parse_tree.data, result.parse_tree.len);
  pg_query_free_protobuf_parse_result(result);
  return bytes;
}

/// The kinds of a text's words, as the library's scanner has them. Empty where it finds an error.
std::vector<std::uint32_t> scanned(const std::string& text) {
  const PgQueryScanResult result = pg_query_scan(text.c_str());
  std::vector<std::uint32_t> kinds;
  ast::WireReader words{swizzle::as_bytes(std::string_view{result.pbuf.data, result.pbuf.len})};
  while (result.error == nullptr && words.next()) {
    constexpr std::uint32_t kTokens = 2;
    constexpr std::uint32_t kKind = 4;
    if (words.field() != kTokens) {
      words.skip();
      continue;
    }
    ast::WireReader word{words.bytes()};
    while (word.next()) {
      if (word.field() == kKind) {
        kinds.push_back(word.uint32());
      } else {
        word.skip();
      }
    }
  }
  pg_query_free_scan_result(result);
  return kinds;
}

}  // namespace

TEST_CASE("Lifted are the scanner's constants, and nothing else changes", "[parse][corpus]") {
  constexpr std::uint32_t kString = 261;
  constexpr std::uint32_t kInteger = 266;
  constexpr std::uint32_t kParameter = 267;
  std::size_t shapes = 0;
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    if (entry.path().extension() != ".sql") continue;
    for (const corpus::Request& request : corpus::read_script(entry.path())) {
      const auto lifted = lift_literals(request.text);
      const std::vector<std::uint32_t> before = scanned(request.text);
      if (!lifted || before.empty()) continue;
      ++shapes;
      INFO(entry.path().filename().string() << ":" << request.line << " " << lifted->shape);
      std::vector<std::uint32_t> expected;
      std::size_t constants = 0;
      for (const std::uint32_t kind : before) {
        const bool is_constant = kind == kString || kind == kInteger;
        constants += is_constant ? 1 : 0;
        expected.push_back(is_constant ? kParameter : kind);
      }
      // A semicolon at the end is left out.
      constexpr std::uint32_t kSemicolon = ';';
      if (expected.back() == kSemicolon) expected.pop_back();
      CHECK(scanned(lifted->shape) == expected);
      CHECK(lifted->literals.size() == constants);
    }
  }
  CHECK(shapes > 1000);
}

TEST_CASE("A packed tree is the library's, byte for byte, for every request of the corpus",
          "[parse][corpus]") {
  std::size_t trees = 0;
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    if (entry.path().extension() != ".sql") continue;
    for (const corpus::Request& request : corpus::read_script(entry.path())) {
      const auto expected = packed_by_library(request.text);
      const SyntaxTree tree{request.text};
      INFO(entry.path().filename().string() << ":" << request.line);
      CHECK(tree.error().has_value() == !expected.has_value());
      if (!expected) continue;
      ++trees;
      CHECK(std::string{swizzle::as_text(tree.bytes())} == *expected);
    }
  }
  CHECK(trees > 8000);
}

TEST_CASE("A tree of many rows is the library's too", "[parse]") {
  std::string text = "INSERT INTO t VALUES (0, NULL, '', 0.0, true, B'0')";
  for (int i = 1; i < 3000; ++i) {
    text += ", (" + std::to_string(i * 7919 - 100) + ", NULL, 'text', 1e5, false, -1)";
  }
  const SyntaxTree tree{text};
  CHECK(std::string{swizzle::as_text(tree.bytes())} == packed_by_library(text).value());
}
