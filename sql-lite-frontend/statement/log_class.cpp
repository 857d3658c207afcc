#include "sql-lite-frontend/statement/log_class.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/statement/statement_kinds.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool writes_a_table(const ast::Node* node) {
  const StatementKind* const kind = find_statement_kind(ast::kind_of(node));
  return kind != nullptr && kind->log_class == LogClass::change;
}

LogClass class_of_query(const ast::SelectStmt& select) {
  check_stack();
  if (select.into_clause != nullptr) return LogClass::definition;
  if (select.with_clause != nullptr) {
    const bool has_write = std::ranges::any_of(select.with_clause->ctes, [](const ast::Node* node) {
      return writes_a_table(ast::as<ast::CommonTableExpr>(node).ctequery);
    });
    if (has_write) return LogClass::change;
  }
  // INTO may stand in the first query of a UNION.
  return select.larg != nullptr ? class_of_query(*select.larg) : LogClass::other;
}

LogClass class_of_explained(const ast::ExplainStmt& explain, const PreparedTree& prepared) {
  const bool runs = std::ranges::any_of(explain.options, [](const ast::Node* node) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "analyze") return false;
    const auto* word = ast::try_as<ast::String>(option.arg);
    return word == nullptr || (word->sval != "off" && word->sval != "false");
  });
  return runs ? log_class_of(explain.query, prepared) : LogClass::other;
}

/// Spares the statements of every transaction a second parse: returns the class of a text that is
/// one of these, by its first word.
std::optional<LogClass> class_by_first_word(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return LogClass::other;
  text = text.substr(begin, text.find_last_not_of("; \t\r\n") + 1 - begin);
  if (text.find(';') != std::string_view::npos) return std::nullopt;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::ranges::find_if_not(text, is_letter);
  const std::string word = lower_case(text.substr(0, static_cast<std::size_t>(end - text.begin())));
  if (word == "insert" || word == "update" || word == "delete" || word == "merge") {
    return LogClass::change;
  }
  if (word == "begin" || word == "commit" || word == "rollback") return LogClass::other;
  if (word == "select" && lower_case(text).find("into") == std::string::npos) {
    return LogClass::other;
  }
  return std::nullopt;
}

}  // namespace

LogClass log_class_of(const ast::Node* node, const PreparedTree& prepared) {
  check_stack();
  if (node == nullptr) return LogClass::other;
  if (const auto* select = ast::try_as<ast::SelectStmt>(node)) return class_of_query(*select);
  if (const auto* copy = ast::try_as<ast::CopyStmt>(node)) {
    return copy->is_from ? LogClass::change : LogClass::other;
  }
  if (const auto* explain = ast::try_as<ast::ExplainStmt>(node)) {
    return class_of_explained(*explain, prepared);
  }
  if (const auto* prepare = ast::try_as<ast::PrepareStmt>(node)) {
    return log_class_of(prepare->query, prepared);
  }
  if (const auto* execute = ast::try_as<ast::ExecuteStmt>(node)) {
    const ast::Node* const behind = prepared(execute->name);
    // Parse may have prepared an EXECUTE, of itself even.
    if (behind == nullptr || ast::is<ast::ExecuteStmt>(behind)) return LogClass::other;
    return log_class_of(behind, prepared);
  }
  return kind_of_statement(*node).log_class;
}

LogClass log_class_of(std::string_view script, const PreparedTree& prepared) {
  if (const auto known = class_by_first_word(script)) return *known;
  LogClass highest = LogClass::other;
  try {
    Arena arena;
    for (const ast::RawStmt* statement : parse_script(arena, std::string{script})) {
      highest = std::max(highest, log_class_of(statement->stmt, prepared));
    }
  } catch (const SqlError&) {
    // It will fail where it runs, and is logged there.
    return LogClass::other;
  } catch (const std::bad_alloc&) {
    return LogClass::definition;
  }
  return highest;
}

}  // namespace swizzle::sql
