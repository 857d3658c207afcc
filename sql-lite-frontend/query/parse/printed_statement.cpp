#include "sql-lite-frontend/query/parse/printed_statement.h"

#include <pg_query.h>

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/query/parse/decoder.h"

namespace swizzle::sql {
namespace {

// Where things are in the library's encoding.
constexpr std::uint32_t kStatements = 2;
constexpr std::uint32_t kStatementNode = 1;
constexpr std::uint32_t kStatementLocation = 2;

std::int64_t location_of(Bytes statement) {
  ast::WireReader wire{statement};
  while (wire.next()) {
    if (wire.field() == kStatementLocation) return wire.int64();
    wire.skip();
  }
  return 0;
}

void append_varint(std::string& out, std::size_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7fU) | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

/// Behind the constant or quoted name that begins at `at`; `at` itself where there is none.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote != '\'' && quote != '"') return at;
  const bool has_escapes = quote == '\'' && at > 0 && text[at - 1] == 'E';
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote) {
    end += has_escapes && text[end] == '\\' ? std::size_t{2} : std::size_t{1};
  }
  return std::min(end + 1, text.size());
}

/// Between FETCH FIRST and ROWS the grammar takes a constant, or an expression in parentheses; the
/// library prints every expression without.
std::string with_parentheses_in_fetch(std::string_view text) {
  constexpr std::string_view kFetch = "FETCH FIRST ";
  constexpr std::string_view kRows = " ROWS ";
  std::string out;
  std::vector<int> open;  // the depths at which a FETCH FIRST has begun
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = end_of_quoted(text, at); end != at) {
      out += text.substr(at, end - at);
      at = end;
    } else if (text.substr(at).starts_with(kFetch)) {
      out += kFetch;
      out += '(';
      open.push_back(depth);
      at += kFetch.size();
    } else if (!open.empty() && open.back() == depth && text.substr(at).starts_with(kRows)) {
      out += ')';
      out += kRows;
      open.pop_back();
      at += kRows.size();
    } else {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      out += text[at++];
    }
  }
  return out;
}

/// Whether the text is one statement.
bool is_readable(const std::string& text) {
  const SyntaxTree again{text};
  return !again.error() && statement_at(again, 0).has_value();
}

}  // namespace

std::optional<Bytes> field_of(Bytes message, std::uint32_t number) {
  ast::WireReader wire{message};
  while (wire.next()) {
    if (wire.field() == number) return wire.bytes();
    wire.skip();
  }
  return std::nullopt;
}

std::optional<Bytes> statement_at(const SyntaxTree& parsed, std::int32_t location) {
  ast::WireReader wire{parsed.bytes()};
  while (wire.next()) {
    if (wire.field() != kStatements) {
      wire.skip();
      continue;
    }
    const Bytes statement = wire.bytes();
    if (location_of(statement) == location) return field_of(statement, kStatementNode);
  }
  return std::nullopt;
}

std::string message_with(std::uint32_t number, std::string_view body) {
  std::string out;
  append_varint(out, (number << 3U) | 2U);
  append_varint(out, body.size());
  return out += body;
}

std::string printed_statement(const SyntaxTree& parsed, std::string_view node) {
  std::string script = message_with(kStatements, message_with(kStatementNode, node));
  PgQueryProtobuf bytes;
  bytes.data = script.data();
  bytes.len = script.size();
  parsed.check_stack_to_read_back();
  const PgQueryDeparseResult printed = pg_query_deparse_protobuf(bytes);
  std::string text;
  if (printed.error == nullptr) text = printed.query;
  pg_query_free_deparse_result(printed);
  // A text that is kept must be read again.
  if (text.empty() || is_readable(text)) return text;
  text = with_parentheses_in_fetch(text);
  return is_readable(text) ? text : std::string{};
}

}  // namespace swizzle::sql
