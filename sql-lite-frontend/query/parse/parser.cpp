#include "sql-lite-frontend/query/parse/parser.h"

#include <algorithm>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/query/parse/deep_comments.h"
#include "sql-lite-frontend/query/parse/postgres_statement.h"
#include "sql-lite-frontend/query/parse/syntax_tree.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Converts a position from characters, which the library counts, to bytes, as everything else
/// does.
int byte_position(const std::string& text, int character_position) {
  if (character_position <= 0) return 0;
  int characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U &&
        ++characters == character_position) {
      return static_cast<int>(i) + 1;
    }
  }
  return static_cast<int>(text.size()) + 1;
}

[[noreturn]] void throw_parse_error(const std::string& text, const SyntaxError& error) {
  throw SqlError{error.state, error.message}
      .with_detail(error.detail)
      .with_hint(error.hint)
      .at_position(byte_position(text, error.character_position));
}

}  // namespace

ast::Items<ast::RawStmt> parse_script(Arena& arena, const std::string& text) {
  // The library never yields, so a longer text than it parses in about a millisecond goes to a
  // helper thread.
  constexpr std::size_t kLongText = 8 << 10;
  const bool is_long = text.size() >= kLongText;
  const auto parse = [&] {
    const auto flat = without_deep_comments(text);
    const SyntaxTree parsed{flat ? *flat : text, is_long ? arena.account() : nullptr};
    if (parsed.error()) throw_parse_error(text, *parsed.error());
    const auto decoded = parsed.copy_to(arena);
    const ast::RawStmt** const read = arena.allocate_array<const ast::RawStmt*>(decoded.size());
    std::ranges::transform(decoded, read, [&](const ast::RawStmt* statement) {
      return as_postgres_reads(arena, statement);
    });
    return ast::Items<ast::RawStmt>{read, decoded.size()};
  };
  if (!is_long) return parse();
  ast::Items<ast::RawStmt> statements;
  Runtime::current().run_aside([&] { statements = parse(); });
  return statements;
}

void ast::throw_unexpected(const Node* node) {
  if (const auto* parameter = try_as<ParamRef>(node)) {
    throw sql_error(sqlstate::syntax_error, "syntax error at or near \"${}\"", parameter->number)
        .at_position(parameter->location + 1);
  }
  throw sql_error(sqlstate::syntax_error, "syntax error: unexpected {}",
                  node == nullptr ? "end" : node_name(node->node_kind));
}

std::string_view statement_text(std::string_view script, const ast::RawStmt& statement) {
  const auto start = static_cast<std::size_t>(statement.stmt_location);
  std::string_view text = script.substr(start);
  if (statement.stmt_len > 0) text = text.substr(0, static_cast<std::size_t>(statement.stmt_len));
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace swizzle::sql
