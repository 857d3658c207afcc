#include "sql-lite-frontend/query/parse/log_class.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

bool writes_a_table(const ast::Node* node) {
  return ast::is<ast::InsertStmt>(node) || ast::is<ast::UpdateStmt>(node) ||
         ast::is<ast::DeleteStmt>(node);
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

/// True for statements that neither write rows nor define anything. All others define.
bool is_neither(ast::NodeKind kind) {
  using Kind = ast::NodeKind;
  static constexpr std::array kKinds{Kind::transaction_stmt,  Kind::declare_cursor_stmt,
                                     Kind::close_portal_stmt, Kind::fetch_stmt,
                                     Kind::notify_stmt,       Kind::listen_stmt,
                                     Kind::unlisten_stmt,     Kind::load_stmt,
                                     Kind::call_stmt,         Kind::vacuum_stmt,
                                     Kind::variable_set_stmt, Kind::variable_show_stmt,
                                     Kind::discard_stmt,      Kind::reindex_stmt,
                                     Kind::lock_stmt,         Kind::check_point_stmt,
                                     Kind::do_stmt,           Kind::constraints_set_stmt,
                                     Kind::deallocate_stmt};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

/// The class of a text that is one statement, where its first word tells it.
std::optional<LogClass> class_by_first_word(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return LogClass::other;
  text = text.substr(begin, text.find_last_not_of("; \t\r\n") + 1 - begin);
  if (text.find(';') != std::string_view::npos) return std::nullopt;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::ranges::find_if_not(text, is_letter);
  const std::string word = lower_case(text.substr(0, static_cast<std::size_t>(end - text.begin())));
  if (word == "insert" || word == "update" || word == "delete") return LogClass::change;
  static constexpr std::array<std::string_view, 8> kNeither{
      "begin", "commit", "rollback", "set", "show", "fetch", "start", "savepoint"};
  if (std::ranges::find(kNeither, word) != kNeither.end()) return LogClass::other;
  if (word == "select" && lower_case(text).find("into") == std::string::npos) {
    return LogClass::other;
  }
  return std::nullopt;
}

}  // namespace

LogClass log_class_of(const ast::Node* node, const PreparedTree& prepared) {
  using Kind = ast::NodeKind;
  check_stack();
  if (node == nullptr) return LogClass::other;
  if (writes_a_table(node)) return LogClass::change;
  switch (node->node_kind) {
    case Kind::select_stmt:
      return class_of_query(ast::as<ast::SelectStmt>(node));
    case Kind::merge_stmt:
    case Kind::truncate_stmt:
      return LogClass::change;
    case Kind::copy_stmt:
      return ast::as<ast::CopyStmt>(node).is_from ? LogClass::change : LogClass::other;
    case Kind::explain_stmt:
      return class_of_explained(ast::as<ast::ExplainStmt>(node), prepared);
    case Kind::prepare_stmt:
      return log_class_of(ast::as<ast::PrepareStmt>(node).query, prepared);
    case Kind::execute_stmt: {
      const ast::Node* const behind = prepared(ast::as<ast::ExecuteStmt>(node).name);
      // Parse may have prepared an EXECUTE, of itself even.
      if (behind == nullptr || ast::is<ast::ExecuteStmt>(behind)) return LogClass::other;
      return log_class_of(behind, prepared);
    }
    default:
      return is_neither(node->node_kind) ? LogClass::other : LogClass::definition;
  }
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
