#include <pg_query.h>

#include "sql-lite-frontend/ddl/table_builder.h"
#include "sql-lite-frontend/parse/decoder.h"
#include "sql-lite-frontend/parse/syntax_tree.h"

namespace swizzle::sql {
namespace {

// Where things are in the parser library's encoding.
constexpr std::uint32_t kStatements = 2;
constexpr std::uint32_t kStatementNode = 1;
constexpr std::uint32_t kRelationName = 3;
constexpr std::uint32_t kViewStatement = 87;
constexpr std::uint32_t kViewName = 1;
constexpr std::uint32_t kViewQuery = 3;
constexpr std::uint32_t kCreateAsStatement = 94;
constexpr std::uint32_t kCreateAsQuery = 1;
constexpr std::uint32_t kCreateAsInto = 2;
constexpr std::uint32_t kIntoName = 1;

std::optional<Bytes> field(Bytes message, std::uint32_t wanted) {
  ast::WireReader wire{message};
  while (wire.next()) {
    if (wire.field() == wanted) return wire.bytes();
    wire.skip();
  }
  return std::nullopt;
}

void append_varint(std::string& out, std::size_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7fU) | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void append_message(std::string& out, std::uint32_t number, std::string_view body) {
  append_varint(out, (number << 3U) | 2U);
  append_varint(out, body.size());
  out += body;
}

/// The query node of a statement that creates `view`.
std::optional<Bytes> query_of(Bytes node, std::string_view view) {
  std::optional<Bytes> relation;
  std::optional<Bytes> query;
  if (const auto plain = field(node, kViewStatement)) {
    relation = field(*plain, kViewName);
    query = field(*plain, kViewQuery);
  } else if (const auto create_as = field(node, kCreateAsStatement)) {
    const auto into = field(*create_as, kCreateAsInto);
    relation = into ? field(*into, kIntoName) : std::nullopt;
    query = field(*create_as, kCreateAsQuery);
  }
  const auto name = relation ? field(*relation, kRelationName) : std::nullopt;
  return name && as_text(*name) == view ? query : std::nullopt;
}

/// The bytes of the view's query node within the parsed script.
std::optional<Bytes> find_query(Bytes tree, std::string_view view) {
  ast::WireReader wire{tree};
  while (wire.next()) {
    if (wire.field() != kStatements) {
      wire.skip();
      continue;
    }
    const auto node = field(wire.bytes(), kStatementNode);
    if (const auto query = node ? query_of(*node, view) : std::nullopt) return query;
  }
  return std::nullopt;
}

}  // namespace

std::string view_query_text(const std::string& script, std::string_view view) {
  const SyntaxTree parsed{script};
  std::string text;
  if (!parsed.error()) {
    if (const auto query = find_query(parsed.bytes(), view)) {
      // A script of its own around the query's node.
      std::string statement;
      append_message(statement, kStatementNode, as_text(*query));
      std::string whole;
      append_message(whole, kStatements, statement);
      PgQueryProtobuf bytes;
      bytes.data = whole.data();
      bytes.len = whole.size();
      parsed.check_stack_to_read_back();
      const PgQueryDeparseResult printed = pg_query_deparse_protobuf(bytes);
      if (printed.error == nullptr) text = printed.query;
      pg_query_free_deparse_result(printed);
    }
  }
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this view's query cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
