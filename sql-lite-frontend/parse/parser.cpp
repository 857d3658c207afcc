#include "sql-lite-frontend/parse/parser.h"

#include <pg_query.h>

#include <cstring>

#include "sql-lite-frontend/parse/decoder.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

class ParseResult {
 public:
  explicit ParseResult(const std::string& text) : result_(pg_query_parse_protobuf(text.c_str())) {}
  ParseResult(const ParseResult&) = delete;
  ParseResult& operator=(const ParseResult&) = delete;
  ~ParseResult() { pg_query_free_protobuf_parse_result(result_); }

  [[nodiscard]] const PgQueryError* error() const noexcept { return result_.error; }
  [[nodiscard]] Bytes tree() const noexcept {
    return as_bytes(std::string_view{result_.parse_tree.data, result_.parse_tree.len});
  }

 private:
  PgQueryProtobufParseResult result_;
};

/// The library reports no SQLSTATE; the grammar knows only these kinds of complaint.
SqlState state_of(std::string_view message) {
  if (message.contains("not implemented") || message.contains("not supported") ||
      message.contains("not yet implemented")) {
    return sqlstate::feature_not_supported;
  }
  if (message.starts_with("frame ") || message.contains("GROUPS mode requires") ||
      message.contains("RANGE with offset")) {
    return SqlState{"42P20"};
  }
  if (message.contains("stack depth limit")) return sqlstate::statement_too_complex;
  if (message.contains("memory")) return sqlstate::out_of_memory;
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

[[noreturn]] void throw_parse_error(const std::string& text, const PgQueryError& error) {
  std::string message = error.message;
  const SqlState state = state_of(message);
  throw SqlError{state, std::move(message)}.at_position(byte_position(text, error.cursorpos));
}

}  // namespace

std::span<const ast::RawStmt* const> parse_script(Arena& arena, const std::string& text) {
  const ParseResult parsed{text};
  if (const PgQueryError* error = parsed.error()) throw_parse_error(text, *error);
  return ast::Decoder{arena}.statements(parsed.tree());
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
