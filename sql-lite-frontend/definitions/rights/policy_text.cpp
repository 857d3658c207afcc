#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/types/sql_error.h"

/// A policy's conditions as text: the parser's library prints what it has read.
namespace swizzle::sql {
namespace {

// Where things are in the library's encoding.
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

std::optional<Bytes> condition_in(Bytes node, PolicyClause clause) {
  std::optional<Bytes> statement = field_of(node, kCreatePolicy);
  const ConditionFields& fields = statement ? kOfCreate : kOfAlter;
  if (!statement) statement = field_of(node, kAlterPolicy);
  if (!statement) return std::nullopt;
  return field_of(*statement,
                  clause == PolicyClause::using_rows ? fields.using_rows : fields.with_check);
}

}  // namespace

std::string policy_condition_text(const Statement& whole, PolicyClause clause) {
  const SyntaxTree parsed{whole.text()};
  std::string text;
  if (!parsed.error()) {
    const auto node = statement_at(parsed, whole.location);
    if (const auto condition = node ? condition_in(*node, clause) : std::nullopt) {
      const std::string target =
          message_with(kResultTarget, message_with(kTargetValue, as_text(*condition)));
      text = printed_statement(parsed,
                               message_with(kSelectStatement, message_with(kTargetList, target)));
    }
  }
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this policy's condition cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
