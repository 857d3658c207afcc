#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Text of a policy's conditions, printed by the parser library from its own tree.
namespace swizzle::sql {

std::string policy_condition_text(const Statement& whole, PolicyClause clause) {
  std::string text = printed_policy_condition(whole.text(), whole.location, clause);
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this policy's condition cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
