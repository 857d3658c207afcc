#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/text/query_printer.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Prints the FROM clause.
namespace swizzle::sql {

void QueryPrinter::print_from(const Query& query) {
  bool is_first = true;
  for (const FromPtr& item : query.from) {
    if (std::exchange(is_first, false)) {
      begin_line(" FROM ", -kIndent, kIndent, 2);
      print_item(*item);
      continue;
    }
    write(", ");
    std::string text = std::exchange(printer_.out, {});
    print_item(*item);
    text.swap(printer_.out);
    const bool is_too_long =
        layout_.wrap_column >= 0 &&
        line_length() + text.size() > static_cast<std::size_t>(layout_.wrap_column);
    if (is_too_long && !text.starts_with('\n')) begin_line("", -kIndent, kIndent, kIndentOfItem);
    write(text);
  }
}

void QueryPrinter::print_item(const FromNode& node) {
  check_stack();
  if (const auto* join = std::get_if<FromJoin>(&node.node)) return print_join(node, *join);
  const RangeName* const range = names().find(node);
  if (range == nullptr) throw_unprintable("this FROM item");
  if (const auto* table = std::get_if<FromTable>(&node.node)) {
    print_relation(*table->table, ast::as<ast::RangeVar>(range->syntax));
  } else if (const auto* computed = std::get_if<FromComputed>(&node.node)) {
    print_relation(*computed->table, ast::as<ast::RangeVar>(range->syntax));
  } else if (const auto* cte = std::get_if<FromCte>(&node.node)) {
    write(quote_identifier(cte->cte->name));
  } else if (const auto* functions = std::get_if<FromFunctions>(&node.node)) {
    print_functions(*functions, ast::as<ast::RangeFunction>(range->syntax));
  } else if (const auto* sample = ast::try_as<ast::RangeTableSample>(range->syntax)) {
    const Query& rows = *std::get<FromSubquery>(node.node).query;
    const auto* stored = std::get_if<FromTable>(&rows.from.at(0)->node);
    print_relation(
        stored != nullptr ? *stored->table : *std::get<FromComputed>(rows.from[0]->node).table,
        ast::as<ast::RangeVar>(sample->relation));
    print_alias(*range);
    return print_sample(*rows.sample);
  } else if (const auto* json = ast::try_as<ast::JsonTable>(range->syntax)) {
    print_json_table(*std::get<FromSubquery>(node.node).query, *json);
  } else {
    if (ast::as<ast::RangeSubselect>(range->syntax).lateral) write("LATERAL ");
    write("(");
    print_query(*std::get<FromSubquery>(node.node).query, {{}, true});
    write(")");
  }
  print_alias(*range);
  const auto* functions = std::get_if<FromFunctions>(&node.node);
  if (functions != nullptr && !ast::as<ast::RangeFunction>(range->syntax).coldeflist.empty())
    print_column_types(*functions);
}

void QueryPrinter::print_relation(const Table& table, const ast::RangeVar& syntax) {
  if (!syntax.inh) write("ONLY ");
  const auto name =
      objects_ == nullptr ? std::nullopt : objects_->name_of(TypeId::regclass, table.relation.oid);
  std::string shown = name.value_or(quote_identifier(table.relation.name));
  if (shown == quote_identifier(table.relation.name) && names_cte(table.relation.name))
    throw_unprintable("a relation with the name of a WITH query");
  write(shown);
}

void QueryPrinter::print_sample(const TableSample& sample) {
  write(sample.method == TableSample::Method::bernoulli ? " TABLESAMPLE bernoulli ("
                                                        : " TABLESAMPLE system (");
  printer_.print_at(*sample.percentage, {});
  write(")");
  if (!sample.repeatable) return;
  write(" REPEATABLE (");
  printer_.print_at(*sample.repeatable, {});
  write(")");
}

bool QueryPrinter::names_cte(std::string_view name) const {
  return std::ranges::any_of(levels_, [&](const Level& level) {
    if (level.query == nullptr) return false;
    const auto& ctes = notes_.queries.at(level.query).ctes;
    return std::ranges::any_of(ctes, [&](const auto& cte) { return cte->name == name; });
  });
}

void QueryPrinter::print_alias(const RangeName& range) {
  if (range.shows_name) write(" " + quote_identifier(range.name));
  const auto* const function = ast::try_as<ast::RangeFunction>(range.syntax);
  if (!range.shows_columns || (function != nullptr && !function->coldeflist.empty())) return;
  for (std::size_t i = 0; i < range.columns.size(); ++i) {
    write(i == 0 ? "(" : ", ");
    write(quote_identifier(range.columns[i].name));
  }
  if (!range.columns.empty()) write(")");
}

void QueryPrinter::print_column_types(const FromFunctions& functions) {
  const RowShape* const shape = functions.calls[0].shape.get();
  if (shape == nullptr) throw_unprintable("this column definition list");
  for (std::size_t i = 0; i < shape->names.size(); ++i) {
    write(i == 0 ? "(" : ", ");
    const TypeId type = without_collation(shape->types[i]);
    std::optional<std::string> name;
    if (objects_ != nullptr && is_user_type(type))
      name = objects_->name_of(TypeId::regtype, raw(type));
    write(quote_identifier(shape->names[i]) + " ");
    write(name ? *name : cast_target(type, shape->typmods[i]));
  }
  write(")");
}

void QueryPrinter::print_function(const FromCall& call) {
  if (call.function != nullptr) return print_call(call.function, call.routine, call.arguments);
  const Expr& scalar = *call.scalar;
  const auto* const routine = dynamic_cast<const RoutineExpr*>(&scalar);
  const auto* const built_in = dynamic_cast<const FunctionExpr*>(&scalar);
  const bool is_call =
      (routine != nullptr && !routine->written().op && !routine->written().is_cast) ||
      (built_in != nullptr && built_in->op() == nullptr) ||
      dynamic_cast<const SessionFunctionExpr*>(&scalar) != nullptr ||
      dynamic_cast<const CoalesceExpr*>(&scalar) != nullptr ||
      dynamic_cast<const GreatestExpr*>(&scalar) != nullptr ||
      dynamic_cast<const NullIfExpr*>(&scalar) != nullptr ||
      scalar.spelling() == Spelling::keywords;
  if (!is_call) throw_unprintable("this expression in FROM");
  printer_.print(scalar);
}

bool QueryPrinter::reads_siblings(const FromFunctions& functions) const {
  bool reads = false;
  const auto look_at = [&](Expr& expr) {
    walk(expr, [&](Expr& part) {
      const auto* const slot = dynamic_cast<const SlotExpr*>(&part);
      reads |= slot != nullptr && names().find(*slot).has_value();
    });
  };
  for (const FromCall& call : functions.calls) {
    for (const ExprPtr& argument : call.arguments) look_at(*argument);
    if (call.scalar) look_at(*call.scalar);
  }
  return reads;
}

void QueryPrinter::print_functions(const FromFunctions& functions,
                                   const ast::RangeFunction& syntax) {
  if (syntax.lateral || reads_siblings(functions)) write("LATERAL ");
  const auto is_unnest = [](const FromCall& call) {
    return call.function != nullptr && !call.routine && call.function->name == "unnest" &&
           call.arguments.size() == 1;
  };
  if (functions.calls.size() == 1) {
    print_function(functions.calls[0]);
  } else if (std::ranges::all_of(functions.calls, is_unnest)) {
    write("UNNEST(");
    for (std::size_t i = 0; i < functions.calls.size(); ++i) {
      if (i > 0) write(", ");
      print_arguments(functions.calls[i].arguments, false);
    }
    write(")");
  } else {
    write("ROWS FROM(");
    for (std::size_t i = 0; i < functions.calls.size(); ++i) {
      if (functions.calls[i].shape) throw_unprintable("a column definition list in ROWS FROM");
      if (i > 0) write(", ");
      print_function(functions.calls[i]);
    }
    write(")");
  }
  if (syntax.ordinality) write(" WITH ORDINALITY");
}

void QueryPrinter::print_join(const FromNode& node, const FromJoin& join) {
  const auto note = notes_.from.find(&node);
  if (note == notes_.from.end()) throw_unprintable("this join");
  const auto& syntax = ast::as<ast::JoinExpr>(note->second.node);
  const bool is_turned = syntax.jointype == ast::JoinType::right;
  const FromNode& left = is_turned ? *join.right : *join.left;
  const FromNode& right = is_turned ? *join.left : *join.right;
  const bool is_enclosed = !layout_.is_pretty || syntax.alias != nullptr;
  if (is_enclosed) write("(");
  print_item(left);
  const std::vector<std::string> merged = RangeNames::using_names(join, syntax);
  std::string_view word = " CROSS JOIN ";
  if (syntax.jointype == ast::JoinType::left) word = " LEFT JOIN ";
  if (syntax.jointype == ast::JoinType::right) word = " RIGHT JOIN ";
  if (syntax.jointype == ast::JoinType::full) word = " FULL JOIN ";
  const bool is_inner = syntax.jointype == ast::JoinType::inner;
  if (is_inner && !join.conditions.empty()) word = " JOIN ";
  begin_line(word, -kIndent, kIndent, kIndentOfJoin);
  const auto* const right_join = ast::try_as<ast::JoinExpr>(syntax.rarg);
  const bool encloses_right =
      layout_.is_pretty && right_join != nullptr && right_join->alias == nullptr;
  if (encloses_right) write("(");
  print_item(right);
  if (encloses_right) write(")");
  if (!merged.empty()) {
    for (std::size_t i = 0; i < merged.size(); ++i) {
      write(i == 0 ? " USING (" : ", ");
      write(quote_identifier(merged[i]));
    }
    write(")");
    if (syntax.join_using_alias != nullptr)
      write(" AS " + quote_identifier(syntax.join_using_alias->aliasname));
  } else if (!join.conditions.empty()) {
    write(layout_.is_pretty ? " ON " : " ON (");
    printer_.print(*join.conditions[0]);
    if (!layout_.is_pretty) write(")");
  } else if (!is_inner) {
    write(" ON TRUE");
  }
  if (is_enclosed) write(")");
  if (syntax.alias != nullptr) {
    if (const RangeName* const range = names().find(node)) print_alias(*range);
  }
}

}  // namespace swizzle::sql
