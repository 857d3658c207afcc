#include "sql-lite-frontend/parse/printed_statement.h"

#include <pg_query.h>

#include "sql-lite-frontend/parse/decoder.h"

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
  return text;
}

}  // namespace swizzle::sql
