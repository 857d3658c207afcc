#include <pg_query.h>

#include "sql-lite-frontend/ddl/policy_definition.h"
#include "sql-lite-frontend/parse/decoder.h"
#include "sql-lite-frontend/parse/syntax_tree.h"

/// A policy's conditions as text: the parser's library prints what it has read.
namespace swizzle::sql {
namespace {

// Where things are in the library's encoding.
constexpr std::uint32_t kStatementList = 2;
constexpr std::uint32_t kNodeOfStatement = 1;
constexpr std::uint32_t kPlaceOfStatement = 2;
constexpr std::uint32_t kSelectStatement = 58;
constexpr std::uint32_t kCreatePolicy = 158;
constexpr std::uint32_t kAlterPolicy = 159;
constexpr std::uint32_t kResultTarget = 179;
constexpr std::uint32_t kTargetList = 3;
constexpr std::uint32_t kTargetValue = 3;
struct ConditionFields {
  std::uint32_t using_rows;
  std::uint32_t with_check;
};
constexpr ConditionFields kOfCreate{6, 7};
constexpr ConditionFields kOfAlter{4, 5};

std::optional<Bytes> part_of(Bytes message, std::uint32_t wanted) {
  ast::WireReader wire{message};
  while (wire.next()) {
    if (wire.field() == wanted) return wire.bytes();
    wire.skip();
  }
  return std::nullopt;
}

/// The statement that begins at `location` of the script.
std::optional<Bytes> statement_at(Bytes tree, std::int32_t location) {
  ast::WireReader wire{tree};
  while (wire.next()) {
    if (wire.field() != kStatementList) {
      wire.skip();
      continue;
    }
    const Bytes statement = wire.bytes();
    std::int64_t begins = 0;
    ast::WireReader within{statement};
    while (within.next()) {
      if (within.field() == kPlaceOfStatement) {
        begins = within.int64();
      } else {
        within.skip();
      }
    }
    if (begins == location) return part_of(statement, kNodeOfStatement);
  }
  return std::nullopt;
}

void put_number(std::string& out, std::size_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7fU) | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

std::string message_of(std::uint32_t number, std::string_view body) {
  std::string out;
  put_number(out, (number << 3U) | 2U);
  put_number(out, body.size());
  return out += body;
}

std::optional<Bytes> condition_in(Bytes node, PolicyClause clause) {
  std::optional<Bytes> statement = part_of(node, kCreatePolicy);
  const ConditionFields& fields = statement ? kOfCreate : kOfAlter;
  if (!statement) statement = part_of(node, kAlterPolicy);
  if (!statement) return std::nullopt;
  return part_of(*statement,
                 clause == PolicyClause::using_rows ? fields.using_rows : fields.with_check);
}

}  // namespace

std::string policy_condition_text(const Statement& whole, PolicyClause clause) {
  const std::string script{whole.text()};
  const SyntaxTree parsed{script};
  std::string text;
  if (!parsed.error()) {
    const auto node = statement_at(parsed.bytes(), whole.location);
    if (const auto condition = node ? condition_in(*node, clause) : std::nullopt) {
      const std::string target =
          message_of(kResultTarget, message_of(kTargetValue, as_text(*condition)));
      const std::string select = message_of(kSelectStatement, message_of(kTargetList, target));
      std::string all = message_of(kStatementList, message_of(kNodeOfStatement, select));
      PgQueryProtobuf bytes;
      bytes.data = all.data();
      bytes.len = all.size();
      parsed.check_stack_to_read_back();
      const PgQueryDeparseResult printed = pg_query_deparse_protobuf(bytes);
      if (printed.error == nullptr) text = printed.query;
      pg_query_free_deparse_result(printed);
    }
  }
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this policy's condition cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
