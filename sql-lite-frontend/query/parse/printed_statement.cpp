#include "sql-lite-frontend/query/parse/printed_statement.h"

#include "sql-lite-frontend/query/parse/syntax_tree.h"
// Last, because of its macros.
#include "sql-lite-frontend/query/parse/library_tree.h"

namespace swizzle::sql {
namespace {

/// Returns true if the text is one statement.
bool is_readable(const std::string& sql) {
  const SyntaxTree again{sql};
  return !again.error() && list_length(again.statements()) == 1;
}

/// Returns the statement that begins at `location`; null if there is none.
const ::Node* statement_at(const SyntaxTree& parsed, std::int32_t location) {
  for (int i = 0; i < list_length(parsed.statements()); ++i) {
    const auto& statement = *static_cast<const ::RawStmt*>(list_nth(parsed.statements(), i));
    if (statement.stmt_location == location) return statement.stmt;
  }
  return nullptr;
}

template <class T>
const T* try_as(const ::Node* node, ::NodeTag kind) {
  const void* const whole = node;
  return node != nullptr && node->type == kind ? static_cast<const T*>(whole) : nullptr;
}

std::string printed(SyntaxTree& parsed, ::Node* query) {
  if (query == nullptr) return {};
  std::string sql = parsed.printed(query);
  // Only return a text that parses again: it will be stored.
  return !sql.empty() && is_readable(sql) ? sql : std::string{};
}

/// Returns "SELECT condition".
std::string printed_condition(SyntaxTree& parsed, ::Node* condition) {
  if (condition == nullptr) return {};
  ::ResTarget target{};
  target.type = T_ResTarget;
  target.val = condition;
  ::ListCell cell{};
  cell.ptr_value = &target;
  ::List targets{};
  targets.type = T_List;
  targets.length = 1;
  targets.max_length = 1;
  targets.elements = &cell;
  ::SelectStmt select{};
  select.type = T_SelectStmt;
  select.targetList = &targets;
  return printed(parsed, reinterpret_cast<::Node*>(&select));
}

}  // namespace

std::string printed_view_query(const std::string& script, std::int32_t location,
                               std::int32_t name) {
  SyntaxTree parsed{script};
  const ::Node* const statement = statement_at(parsed, location);
  if (const auto* view = try_as<::ViewStmt>(statement, T_ViewStmt)) {
    return printed(parsed, view->query);
  }
  if (const auto* schema = try_as<::CreateSchemaStmt>(statement, T_CreateSchemaStmt)) {
    for (int i = 0; i < list_length(schema->schemaElts); ++i) {
      const auto* const element = static_cast<const ::Node*>(list_nth(schema->schemaElts, i));
      const auto* const view = try_as<::ViewStmt>(element, T_ViewStmt);
      if (view != nullptr && view->view->location == name) return printed(parsed, view->query);
    }
  }
  const auto* const create_as = try_as<::CreateTableAsStmt>(statement, T_CreateTableAsStmt);
  return create_as != nullptr ? printed(parsed, create_as->query) : std::string{};
}

std::string printed_policy_condition(const std::string& script, std::int32_t location,
                                     PolicyClause clause) {
  SyntaxTree parsed{script};
  const ::Node* const statement = statement_at(parsed, location);
  const auto print = [&](const auto& policy) {
    return printed_condition(parsed,
                             clause == PolicyClause::using_rows ? policy.qual : policy.with_check);
  };
  if (const auto* made = try_as<::CreatePolicyStmt>(statement, T_CreatePolicyStmt)) {
    return print(*made);
  }
  const auto* const changed = try_as<::AlterPolicyStmt>(statement, T_AlterPolicyStmt);
  return changed != nullptr ? print(*changed) : std::string{};
}

}  // namespace swizzle::sql
