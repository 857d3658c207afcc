#include "sql-lite-frontend/statement/names/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/statement/names/or_stored_text.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

std::string column_list(const Table& table, std::span<const std::int16_t> columns) {
  std::string list;
  for (const std::int16_t number : columns) {
    if (!list.empty()) list += ", ";
    list += quote_identifier(table.relation.columns[static_cast<std::size_t>(number - 1)].name);
  }
  return list;
}

/// "a, PERIOD b"
std::string columns_with_period(const Table& table, std::span<const std::int16_t> columns) {
  return fmt::format("{}, PERIOD {}", column_list(table, columns.first(columns.size() - 1)),
                     column_list(table, columns.last(1)));
}

std::string_view action_text(ReferentialAction action) {
  switch (action) {
    case ReferentialAction::no_action:
      return {};
    case ReferentialAction::restrict_:
      return "RESTRICT";
    case ReferentialAction::cascade:
      return "CASCADE";
    case ReferentialAction::set_null:
      return "SET NULL";
    case ReferentialAction::set_default:
      return "SET DEFAULT";
  }
  return {};
}

/// Defined below.
std::string exclusion(StatementContext& session, const Table& table, const Index& index,
                      Layout layout);

std::string definition(StatementContext& session, const Table& table, const Constraint& constraint,
                       Layout layout) {
  std::string text;
  switch (constraint.kind) {
    case ConstraintKind::check:
      text = fmt::format("CHECK ({})",
                         printed_expression(session, table, constraint.check_sql, layout));
      if (constraint.no_inherit) text += " NO INHERIT";
      break;
    case ConstraintKind::not_null:
      text = fmt::format("NOT NULL {}", column_list(table, constraint.columns));
      if (constraint.no_inherit) text += " NO INHERIT";
      break;
    case ConstraintKind::primary_key:
    case ConstraintKind::unique: {
      const Index* index = table.index_by_oid(constraint.index);
      text = constraint.kind == ConstraintKind::primary_key ? "PRIMARY KEY" : "UNIQUE";
      if (index != nullptr && index->nulls_not_distinct) text += " NULLS NOT DISTINCT";
      const bool has_period = index != nullptr && index->without_overlaps;
      text += fmt::format(" ({}{})", column_list(table, constraint.columns),
                          has_period ? " WITHOUT OVERLAPS" : "");
      if (index != nullptr && !index->included.empty()) {
        text += fmt::format(" INCLUDE ({})", column_list(table, index->included));
      }
      break;
    }
    case ConstraintKind::foreign_key: {
      const TablePtr referenced = session.names.table(constraint.referenced_table);
      const auto columns = constraint.has_period ? columns_with_period : column_list;
      text = fmt::format("FOREIGN KEY ({}) REFERENCES {}({})", columns(table, constraint.columns),
                         *session.names.name_of(TypeId::regclass, constraint.referenced_table),
                         columns(*referenced, constraint.referenced_columns));
      if (constraint.match == 'f') text += " MATCH FULL";
      if (const auto action = action_text(constraint.on_update); !action.empty()) {
        text += fmt::format(" ON UPDATE {}", action);
      }
      if (const auto action = action_text(constraint.on_delete); !action.empty()) {
        text += fmt::format(" ON DELETE {}", action);
        if (!constraint.set_columns.empty()) {
          text += fmt::format(" ({})", column_list(table, constraint.set_columns));
        }
      }
      break;
    }
    case ConstraintKind::exclusion:
      text = exclusion(session, table, *table.index_by_oid(constraint.index), layout);
      break;
  }
  if (constraint.deferrable) text += " DEFERRABLE";
  if (constraint.initially_deferred) text += " INITIALLY DEFERRED";
  if (!constraint.enforced)
    text += " NOT ENFORCED";
  else if (!constraint.validated)
    text += " NOT VALID";
  return text;
}

/// True if a column of an index shows the expression without parentheses around it.
bool looks_like_call(const Expr& expr) {
  if (expr.spelling() == Spelling::keywords) return true;
  const auto* call = dynamic_cast<const FunctionExpr*>(&expr);
  const auto* routine = dynamic_cast<const RoutineExpr*>(&expr);
  return (call != nullptr && call->op() == nullptr) ||
         dynamic_cast<const SessionFunctionExpr*>(&expr) != nullptr ||
         (routine != nullptr && !routine->written().op && !routine->written().is_cast) ||
         dynamic_cast<const CoalesceExpr*>(&expr) != nullptr ||
         dynamic_cast<const GreatestExpr*>(&expr) != nullptr ||
         dynamic_cast<const NullIfExpr*>(&expr) != nullptr ||
         dynamic_cast<const JsonPathExpr*>(&expr) != nullptr ||
         dynamic_cast<const JsonConstructorExpr*>(&expr) != nullptr;
}

struct Printed {
  std::string text;
  bool is_call = false;  ///< needs no parentheses where other expressions do
};

Printed print_stored(StatementContext& session, const Table& table, const std::string& sql,
                     Layout layout) {
  Printed printed;
  printed.text = or_stored_text(sql, [&] {
    Arena arena;
    Binder binder{session.names, arena};
    const ExprPtr expr = binder.bind_table_expression(
        sql, table, binder.new_slots(table.relation.columns.size()), Clause::check);
    ExprPrinter printer{.out = {},
                        .context = &session.session_context,
                        .is_pretty = layout == Layout::pretty,
                        .breaks_lines = true};
    printer.print(*expr);
    printed.is_call = looks_like_call(*expr);
    return std::move(printer.out);
  });
  return printed;
}

std::string index_column(StatementContext& session, const Table& table, const IndexColumn& column,
                         Layout layout) {
  if (column.column != 0) {
    return quote_identifier(
        table.relation.columns[static_cast<std::size_t>(column.column - 1)].name);
  }
  Printed printed = print_stored(session, table, column.expression_sql, layout);
  return printed.is_call ? std::move(printed.text) : "(" + printed.text + ")";
}

/// The place of each column in the order in which they were written.
std::vector<std::size_t> written_order(const Index& index) {
  std::vector<std::size_t> order(index.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return index.columns[i].written_place; });
  return order;
}

/// With its schema where the search path does not find it.
std::string class_name(StatementContext& session, const Index& index, const IndexColumn& part) {
  const ElementClassInfo* const found = index.method == IndexMethod::inverted
                                            ? find_element_class(part.type, part.operator_class)
                                            : nullptr;
  if (found == nullptr || found->extension.empty()) return part.operator_class;
  const ExtensionPtr extension = session.catalog.extension(found->extension);
  if (extension == nullptr) return part.operator_class;
  const auto path = session.names.search_path();
  if (std::ranges::find(path, extension->schema) != path.end()) return part.operator_class;
  return quote_identifier(session.names.schema_name(extension->schema)) + "." + part.operator_class;
}

/// Returns the index column's collation if it differs from that of the indexed expression.
std::string other_collation(StatementContext& session, const Table& table,
                            const IndexColumn& column) {
  if (column.collation == kNoOid || follows_database(column.type)) return {};
  Oid own = kNoOid;
  if (column.column != 0) {
    const auto position = static_cast<std::size_t>(column.column - 1);
    own = default_collation(table.relation.columns[position].expression_type());
  } else {
    Arena arena;
    Binder binder{session.names, arena};
    const ExprPtr expr = binder.bind_table_expression(
        column.expression_sql, table, binder.new_slots(table.relation.columns.size()),
        Clause::index_expression);
    own = default_collation(expr->type());
  }
  if (shown_number(own) == shown_number(column.collation)) return {};
  return " COLLATE " + session.names.shown_collation(shown_number(column.collation)).value_or("");
}

std::string index_order(StatementContext& session, const Table& table, const Index& index,
                        const IndexColumn& column) {
  std::string text = other_collation(session, table, column);
  if (!column.operator_class.empty()) text += " " + class_name(session, index, column);
  const bool descending = column.direction == SortDirection::descending;
  if (descending) text += " DESC";
  if (descending && column.nulls == NullsOrder::last) text += " NULLS LAST";
  if (!descending && column.nulls == NullsOrder::first) text += " NULLS FIRST";
  return text;
}

std::string exclusion(StatementContext& session, const Table& table, const Index& index,
                      Layout layout) {
  std::string elements;
  for (const std::size_t i : written_order(index)) {
    const IndexColumn& column = index.columns[i];
    if (!elements.empty()) elements += ", ";
    elements += fmt::format("{}{} WITH {}", index_column(session, table, column, layout),
                            index_order(session, table, index, column), column.excludes_by);
  }
  std::string text =
      fmt::format("EXCLUDE USING {} ({})", access_method_name(index.method), elements);
  if (!index.included.empty()) {
    text += fmt::format(" INCLUDE ({})", column_list(table, index.included));
  }
  if (!index.predicate_sql.empty()) {
    text +=
        fmt::format(" WHERE ({})", printed_expression(session, table, index.predicate_sql, layout));
  }
  return text;
}

}  // namespace

std::string printed_expression(StatementContext& session, const Table& table,
                               const std::string& sql, Layout layout) {
  return print_stored(session, table, sql, layout).text;
}

std::string name_of_expression(StatementContext& session, const Table& table,
                               const std::string& sql) {
  Arena arena;
  Binder binder{session.names, arena};
  const std::string printed = printed_expression(session, table, sql);
  const auto statements = parse_script(arena, "SELECT " + printed);
  const auto& select = ast::as<ast::SelectStmt>(statements[0]->stmt);
  const auto& target = ast::as<ast::ResTarget>(select.target_list[0]);
  std::string name = binder.target_name_of(target.val);
  return name == "?column?" ? "expr" : name;
}

std::optional<std::string> definition_of_constraint(StatementContext& session, Oid oid,
                                                    Layout layout) {
  for (const TablePtr& table : session.catalog.naming<Table>({oid})) {
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.oid == oid) return definition(session, *table, constraint, layout);
    }
  }
  for (const TypePtr& type : session.catalog.naming<UserType>({oid})) {
    for (const DomainCheck& check : type->checks) {
      if (check.oid != oid) continue;
      return shown_domain_check(session, *type, check, layout == Layout::pretty);
    }
  }
  return std::nullopt;
}

std::optional<std::string> definition_of_index(StatementContext& session, Oid oid,
                                               std::int32_t column, Layout layout) {
  for (const TablePtr& table : session.catalog.naming<Table>({oid})) {
    const Index* index = table->index_by_oid(oid);
    if (index == nullptr) continue;
    if (column > 0) {
      if (static_cast<std::size_t>(column) > index->columns.size()) return std::string{};
      const std::size_t place = written_order(*index)[static_cast<std::size_t>(column) - 1];
      return index_column(session, *table, index->columns[place], layout);
    }
    std::string columns;
    for (const std::size_t i : written_order(*index)) {
      const IndexColumn& part = index->columns[i];
      if (!columns.empty()) columns += ", ";
      columns += index_column(session, *table, part, layout);
      columns += index_order(session, *table, *index, part);
    }
    std::string text = fmt::format(
        "CREATE {}INDEX {} ON {}{} USING {} ({})", index->is_key() ? "UNIQUE " : "",
        quote_identifier(index->name), table->relation.is_partitioned() ? "ONLY " : "",
        layout == Layout::pretty ? *session.names.name_of(TypeId::regclass, table->relation.oid)
                                 : session.names.qualified_name(*table),
        access_method_name(index->method), columns);
    if (!index->included.empty()) {
      text += fmt::format(" INCLUDE ({})", column_list(*table, index->included));
    }
    if (index->nulls_not_distinct) text += " NULLS NOT DISTINCT";
    if (!index->predicate_sql.empty()) {
      text += " WHERE " + printed_expression(session, *table, index->predicate_sql, layout);
    }
    return text;
  }
  return std::nullopt;
}

}  // namespace swizzle::sql
