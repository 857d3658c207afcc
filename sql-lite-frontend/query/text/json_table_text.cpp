#include <fmt/format.h>

#include <utility>

#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/text/query_printer.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// Prints JSON_TABLE in a FROM clause. The syntax tree assigns columns to paths; the bound query
/// has the columns in the same order.
namespace swizzle::sql {

/// Positions reached in the bound query's lists while printing.
struct QueryPrinter::JsonTableText {
  const Query& query;
  const FromCall& call;
  std::size_t column = 0;
  std::size_t path = 0;
  int unnamed = 0;
};

namespace {

bool is_nested(const ast::Node* column) {
  return ast::as<ast::JsonTableColumn>(column).coltype == ast::JsonTableColumnType::nested;
}

}  // namespace

void QueryPrinter::print_json_table_path(const ast::JsonTablePathSpec& syntax,
                                         JsonTableText& table) {
  constexpr std::size_t kFirstPath = 2;
  if (kFirstPath + table.path >= table.call.arguments.size()) throw_unprintable("this JSON_TABLE");
  print_json_path(printer_, *table.call.arguments[kFirstPath + table.path++]);
  write(" AS " + (syntax.name.empty() ? fmt::format("json_table_path_{}", table.unnamed++)
                                      : quote_identifier(syntax.name)));
}

void QueryPrinter::print_json_table_columns(ast::NodeList columns, JsonTableText& table) {
  check_stack();
  write(" ");
  begin_line("COLUMNS (", 0, 0, 0);
  printer_.indent += kIndentOfItem;
  std::string_view before;
  for (const ast::Node* item : columns) {
    if (is_nested(item)) continue;
    if (table.column >= table.query.targets.size()) throw_unprintable("this JSON_TABLE");
    const OutputTarget& target = table.query.targets[table.column++];
    write(std::exchange(before, ", "));
    begin_line("", 0, 0, 0);
    write(quote_identifier(target.name) + " ");
    const auto* column = dynamic_cast<const JsonPathExpr*>(target.expr.get());
    if (column == nullptr) {
      write("FOR ORDINALITY");
      continue;
    }
    write(json_type_name(printer_, target.type, target.typmod));
    using Kind = JsonPathExpr::Kind;
    if (column->words().kind == Kind::exists) write(" EXISTS");
    const bool is_string = value_type(without_collation(base_type(target.type))).category == 'S';
    if (column->words().kind == Kind::query && is_string) write(" FORMAT JSON");
    write(" PATH ");
    print_json_path(printer_, *column->operands()[1]);
    column->print_options(printer_);
  }
  for (const ast::Node* item : columns) {
    if (!is_nested(item)) continue;
    const auto& nested = ast::as<ast::JsonTableColumn>(item);
    write(before.empty() ? " " : ", ");
    before = ", ";
    begin_line("NESTED PATH ", 0, 0, 0);
    print_json_table_path(*nested.pathspec, table);
    print_json_table_columns(nested.columns, table);
  }
  printer_.indent -= kIndentOfItem;
  begin_line(")", 0, 0, 0);
}

void QueryPrinter::print_json_table(const Query& query, const ast::JsonTable& syntax) {
  const auto* functions =
      query.from.empty() ? nullptr : std::get_if<FromFunctions>(&query.from[0]->node);
  if (functions == nullptr) throw_unprintable("this JSON_TABLE");
  if (reads_siblings(*functions)) write("LATERAL ");
  const FromCall& call = functions->calls.at(0);
  JsonTableText table{query, call};
  write("JSON_TABLE(");
  printer_.indent += kIndentOfItem;
  begin_line("", 0, 0, 0);
  ++printer_.depth;
  printer_.print_at(*call.arguments[0], {});
  write(", ");
  print_json_table_path(*syntax.pathspec, table);
  const std::size_t values = syntax.passing.size();
  if (values > 0) {
    write(" ");
    begin_line("PASSING ", 0, 0, 0);
    printer_.indent += kIndentOfItem;
    for (std::size_t i = 0; i < values; ++i) {
      if (i > 0) write(", ");
      begin_line("", 0, 0, 0);
      printer_.print_at(*call.arguments[call.arguments.size() - values + i], {});
      write(" AS " + quote_identifier(ast::as<ast::JsonArgument>(syntax.passing[i].raw()).name));
    }
    printer_.indent -= kIndentOfItem;
  }
  print_json_table_columns(syntax.columns, table);
  --printer_.depth;
  if (syntax.on_error != nullptr && syntax.on_error->btype == ast::JsonBehaviorType::error) {
    write(" ERROR ON ERROR");
  }
  printer_.indent -= kIndentOfItem;
  begin_line(")", 0, 0, 0);
}

}  // namespace swizzle::sql
