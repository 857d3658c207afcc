#include "sql-lite-frontend/query/parse/parser.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/query/parse/decoder.h"
#include "sql-lite-frontend/query/parse/deep_comments.h"
#include "sql-lite-frontend/query/parse/postgres_statement.h"
#include "sql-lite-frontend/query/parse/syntax_tree.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// The library reports no SQLSTATE; the grammar knows only these kinds of complaint.
SqlState state_of(std::string_view message) {
  if (message.contains("not implemented") || message.contains("not supported") ||
      message.contains("not yet implemented") ||
      message == "aggregates cannot have output arguments") {
    return sqlstate::feature_not_supported;
  }
  if (message.starts_with("frame ") || message.contains("GROUPS mode requires") ||
      message.contains("RANGE with offset")) {
    return SqlState{"42P20"};
  }
  if (message.starts_with("invalid byte sequence")) return sqlstate::character_not_in_repertoire;
  // The grammar exhausts a stack of its own, as PostgreSQL's does: that is a syntax error.
  if (message.contains("memory") && !message.starts_with("memory exhausted")) {
    return sqlstate::out_of_memory;
  }
  return sqlstate::syntax_error;
}

/// The library counts characters, everything inside a statement counts bytes.
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

/// The library reports no hints either.
std::string_view hint_of(std::string_view message, std::string_view rest) {
  if (message == "subquery in FROM must have an alias") {
    return "For example, FROM (SELECT ...) [AS] foo.";
  }
  if (message == "VALUES in FROM must have an alias") {
    return "For example, FROM (VALUES ...) [AS] foo.";
  }
  if (message != "invalid Unicode escape") return {};
  return rest.starts_with("\\u") || rest.starts_with("\\U")
             ? "Unicode escapes must be \\uXXXX or \\UXXXXXXXX."
             : "Unicode escapes must be \\XXXX or \\+XXXXXX.";
}

/// PostgreSQL shows the whole word behind a number, the library its first letter.
std::string with_whole_word(std::string message, std::string_view rest) {
  constexpr std::string_view kPrefix = "trailing junk after numeric literal at or near ";
  if (!message.starts_with(kPrefix)) return message;
  const auto in_word = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return std::isalnum(byte) != 0 || letter == '_' || letter == '$' || byte >= 0x80;
  };
  const auto end = std::ranges::find_if_not(rest, in_word);
  const std::string_view word{rest.begin(), end};
  return word.empty() ? message : std::string{kPrefix} + "\"" + std::string{word} + "\"";
}

[[noreturn]] void throw_parse_error(const std::string& text, const SyntaxError& error) {
  const int position = byte_position(text, error.character_position);
  const std::string_view rest =
      position > 0 ? std::string_view{text}.substr(static_cast<std::size_t>(position) - 1)
                   : std::string_view{};
  std::string message = error.message;
  SqlState state = state_of(message);
  const std::string_view hint = hint_of(message, rest);
  if (message == "invalid Unicode escape" && hint.contains("\\u")) state = SqlState{"22025"};
  SqlError complaint{state, with_whole_word(std::move(message), rest)};
  if (!hint.empty()) static_cast<void>(std::move(complaint).with_hint(std::string{hint}));
  throw std::move(complaint).at_position(position);
}

}  // namespace

ast::Items<ast::RawStmt> parse_script(Arena& arena, const std::string& text) {
  // The library cannot let go: more text than it reads in a millisecond is for another thread.
  constexpr std::size_t kLongText = 8 << 10;
  const bool is_long = text.size() >= kLongText;
  const auto parse = [&] {
    const auto flat = without_deep_comments(text);
    const SyntaxTree parsed{flat ? *flat : text, is_long ? arena.account() : nullptr};
    if (parsed.error()) throw_parse_error(text, *parsed.error());
    const auto decoded = ast::Decoder{arena}.statements(parsed.bytes());
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
