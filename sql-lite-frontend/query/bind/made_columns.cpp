#include "sql-lite-frontend/query/bind/made_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

/// Names of the queries around the two parts; PostgreSQL's plans show the same.
constexpr std::string_view kFirst = "\"*TLOCRN*\"";
constexpr std::string_view kSecond = "\"*TROCRN*\"";

[[noreturn]] void refuse(SqlState state, std::string message, std::int32_t location) {
  throw SqlError{state, std::move(message)}.at_position(location + 1);
}

void require_listed(ast::NodeList wanted, std::span<const std::string> columns,
                    std::string_view word, std::int32_t location) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string_view name = ast::string_of(wanted[i]);
    if (std::ranges::find(columns, name) == columns.end()) {
      refuse(sqlstate::syntax_error,
             fmt::format("{} column \"{}\" not in WITH query column list", word, name), location);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (ast::string_of(wanted[j]) != name) continue;
      refuse(sqlstate::duplicate_column,
             fmt::format("{} column \"{}\" specified more than once", word, name), location);
    }
  }
}

void require_new(std::string_view name, std::span<const std::string> columns, std::string_view what,
                 std::int32_t location) {
  if (std::ranges::find(columns, name) == columns.end()) return;
  refuse(sqlstate::syntax_error,
         fmt::format("{} column name \"{}\" already used in WITH query column list", what, name),
         location);
}

/// "q".a, "q".b
std::string listed(std::string_view query, ast::NodeList columns) {
  std::string text;
  for (const ast::Node* column : columns) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}.{}", query, quote_identifier(ast::string_of(column)));
  }
  return text;
}

template <class T>
T* copy_of(Arena& arena, const T& node) {
  return new (arena.allocate(sizeof(T), alignof(T))) T{node};
}

ast::NodeList with_one_more(Arena& arena, ast::NodeList list, const ast::Node* node) {
  auto* const items = arena.allocate_array<const ast::Node*>(list.size() + 1);
  std::ranges::copy(list, items);
  items[list.size()] = node;
  return ast::NodeList{items, list.size() + 1};
}

/// Returns the name under which FROM itself has the WITH query; empty if it does not.
std::string_view name_in(const ast::Node* item, std::string_view cte) {
  check_stack();
  if (const auto* join = ast::try_as<ast::JoinExpr>(item)) {
    const std::string_view left = name_in(join->larg, cte);
    return left.empty() ? name_in(join->rarg, cte) : left;
  }
  const auto* range = ast::try_as<ast::RangeVar>(item);
  if (range == nullptr || !range->schemaname.empty() || range->relname != cte) return {};
  return range->alias != nullptr ? range->alias->aliasname : range->relname;
}

const ast::SelectStmt& parsed(Arena& arena, const std::string& text) {
  return ast::as<ast::SelectStmt>(parse_script(arena, text)[0]->stmt);
}

}  // namespace

MadeColumns::MadeColumns(const ast::CommonTableExpr& cte, std::vector<std::string> columns)
    : cte_(cte),
      search_(cte.search_clause.raw()),
      cycle_(cte.cycle_clause.raw()),
      columns_(std::move(columns)) {
  if (search_ != nullptr) {
    require_listed(search_->search_col_list, columns_, "search", search_->location);
    require_new(search_->search_seq_column, columns_, "search sequence", search_->location);
    names_.emplace_back(search_->search_seq_column);
  }
  if (cycle_ == nullptr) return;
  const std::int32_t location = cycle_->location;
  require_listed(cycle_->cycle_col_list, columns_, "cycle", location);
  require_new(cycle_->cycle_mark_column, columns_, "cycle mark", location);
  require_new(cycle_->cycle_path_column, columns_, "cycle path", location);
  const auto refuse_same = [&](std::string_view left, std::string_view right, std::int32_t at) {
    refuse(sqlstate::syntax_error,
           fmt::format("{} column name and {} column name are the same", left, right), at);
  };
  if (cycle_->cycle_mark_column == cycle_->cycle_path_column)
    refuse_same("cycle mark", "cycle path", location);
  if (search_ != nullptr && search_->search_seq_column == cycle_->cycle_mark_column)
    refuse_same("search sequence", "cycle mark", search_->location);
  if (search_ != nullptr && search_->search_seq_column == cycle_->cycle_path_column)
    refuse_same("search sequence", "cycle path", search_->location);
  names_.emplace_back(cycle_->cycle_mark_column);
  names_.emplace_back(cycle_->cycle_path_column);
}

/// The parts of the UNION must be SELECTs, and the second one's FROM must name the query itself.
std::string_view MadeColumns::reference_in(const ast::SelectStmt& select) const {
  const auto refuse_part = [](SqlState state, std::string_view side) {
    throw_error(state, "with a SEARCH or CYCLE clause, the {} side of the UNION must be a SELECT",
                side);
  };
  using enum ast::SetOperation;
  if (select.larg->op != none) refuse_part(sqlstate::feature_not_supported, "left");
  if (select.rarg->op != none) refuse_part(sqlstate::syntax_error, "right");
  for (const ast::Node* item : select.rarg->from_clause) {
    const std::string_view name = name_in(item, cte_.ctename);
    if (!name.empty()) return name;
  }
  throw_error(sqlstate::feature_not_supported,
              "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{}\" must be "
              "at the top level of its right-hand SELECT",
              cte_.ctename);
}

/// CASE WHEN `condition` THEN the mark's value ELSE its default END.
std::string MadeColumns::mark_text(std::string_view condition) const {
  return fmt::format("CASE WHEN {} THEN NULL ELSE NULL END AS {}", condition,
                     quote_identifier(cycle_->cycle_mark_column));
}

/// Puts the query into the template's FROM, and the mark's values into its CASE.
const ast::SelectStmt* MadeColumns::filled(Arena& arena, const std::string& text,
                                           const ast::SelectStmt& query) const {
  auto* const whole = copy_of(arena, parsed(arena, text));
  auto* const from = copy_of(arena, ast::as<ast::RangeSubselect>(whole->from_clause[0]));
  from->subquery = &query;
  whole->from_clause = with_one_more(arena, {}, from);
  if (cycle_ == nullptr) return whole;
  ast::NodeList targets;
  for (const ast::Node* node : whole->target_list) {
    const auto& target = ast::as<ast::ResTarget>(node);
    const auto* choice = ast::try_as<ast::CaseExpr>(target.val);
    if (choice == nullptr) {
      targets = with_one_more(arena, targets, node);
      continue;
    }
    auto* const when = copy_of(arena, ast::as<ast::CaseWhen>(choice->args[0]));
    when->result = cycle_->cycle_mark_value;
    auto* const marked = copy_of(arena, *choice);
    marked->args = with_one_more(arena, {}, when);
    marked->defresult = cycle_->cycle_mark_default;
    auto* const shown = copy_of(arena, target);
    shown->val = marked;
    targets = with_one_more(arena, targets, shown);
  }
  whole->target_list = targets;
  return whole;
}

std::string MadeColumns::column_list(bool with_made) const {
  std::string text;
  for (const std::string& name : columns_)
    text += (text.empty() ? "" : ", ") + quote_identifier(name);
  for (const std::string& name : names_) {
    if (with_made) text += ", " + quote_identifier(name);
  }
  return text;
}

const ast::SelectStmt* MadeColumns::first_part(Arena& arena, const ast::SelectStmt& select) const {
  std::string text = fmt::format("SELECT {}.*", kFirst);
  if (search_ != nullptr) {
    const std::string keys = listed(kFirst, search_->search_col_list);
    text += search_->search_breadth_first ? fmt::format(", ROW(0::pg_catalog.int8, {})", keys)
                                          : fmt::format(", ARRAY[ROW({})]", keys);
    text += " AS " + quote_identifier(search_->search_seq_column);
  }
  if (cycle_ != nullptr) {
    text += ", " + mark_text("false");
    text += fmt::format(", ARRAY[ROW({})] AS {}", listed(kFirst, cycle_->cycle_col_list),
                        quote_identifier(cycle_->cycle_path_column));
  }
  text += fmt::format(" FROM (SELECT) {}({})", kFirst, column_list(false));
  return filled(arena, text, *select.larg);
}

const ast::SelectStmt* MadeColumns::second_part(Arena& arena, const ast::SelectStmt& select) const {
  const std::string reference = quote_identifier(reference_in(select));
  std::string read = "SELECT ";
  for (const std::string& name : names_) {
    read += fmt::format("{}{}.{}", &name == names_.data() ? "" : ", ", reference,
                        quote_identifier(name));
  }
  // The mark's value takes the place of NULL.
  if (cycle_ != nullptr) {
    read += fmt::format(" WHERE true AND {}.{} <> NULL", reference,
                        quote_identifier(cycle_->cycle_mark_column));
  }
  const ast::SelectStmt& more = parsed(arena, read);
  auto* const inner = copy_of(arena, *select.rarg);
  for (const ast::Node* target : more.target_list) {
    inner->target_list = with_one_more(arena, inner->target_list, target);
  }
  if (cycle_ != nullptr) {
    auto* const both = copy_of(arena, ast::as<ast::BoolExpr>(more.where_clause));
    auto* const goes_on = copy_of(arena, ast::as<ast::A_Expr>(both->args[1]));
    goes_on->rexpr = cycle_->cycle_mark_value;
    const ast::Node* const given = select.rarg->where_clause != nullptr
                                       ? select.rarg->where_clause.raw()
                                       : both->args[0].raw();
    both->args = with_one_more(arena, with_one_more(arena, {}, given), goes_on);
    inner->where_clause = both;
  }
  std::string text = "SELECT ";
  for (const std::string& name : columns_) {
    text += fmt::format("{}{}.{}", &name == columns_.data() ? "" : ", ", kSecond,
                        quote_identifier(name));
  }
  if (search_ != nullptr) {
    const std::string keys = listed(kSecond, search_->search_col_list);
    const std::string made =
        fmt::format("{}.{}", kSecond, quote_identifier(search_->search_seq_column));
    text += search_->search_breadth_first
                ? fmt::format(", ROW(({}).f1 OPERATOR(pg_catalog.+) 1, {})", made, keys)
                : fmt::format(", pg_catalog.array_cat({}, ARRAY[ROW({})])", made, keys);
    text += " AS " + quote_identifier(search_->search_seq_column);
  }
  if (cycle_ != nullptr) {
    const std::string keys = listed(kSecond, cycle_->cycle_col_list);
    const std::string path =
        fmt::format("{}.{}", kSecond, quote_identifier(cycle_->cycle_path_column));
    text += ", " + mark_text(fmt::format("ROW({}) = ANY ({})", keys, path));
    text += fmt::format(", pg_catalog.array_cat({}, ARRAY[ROW({})]) AS {}", path, keys,
                        quote_identifier(cycle_->cycle_path_column));
  }
  text += fmt::format(" FROM (SELECT) {}({})", kSecond, column_list(true));
  return filled(arena, text, *inner);
}

}  // namespace swizzle::sql
