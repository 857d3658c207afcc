#pragma once

#include <optional>
#include <string>

#include "sql-lite-frontend/catalog/table.h"

/// Definitions of objects as SQL: pg_get_constraintdef and others.
namespace swizzle::sql {

struct StatementContext;

/// `pretty` omits parentheses that precedence makes needless, and schemas that the search path
/// does.
enum class Layout : std::uint8_t { plain, pretty };

std::optional<std::string> definition_of_constraint(StatementContext& session, Oid constraint,
                                                    Layout layout);
/// Returns the definition of an index, or of one of its columns; `column` 0: of the whole index.
std::optional<std::string> definition_of_index(StatementContext& session, Oid index,
                                               std::int32_t column, Layout layout);
/// Returns a view's query with its tables' current names, as pg_get_viewdef does. `wrap_column`:
/// list items that would end after it begin a new line.
std::string definition_of_view(StatementContext& session, const Table& view,
                               Layout layout = Layout::plain, int wrap_column = 0);
/// Returns the text of a view's query, or of another statement stored as `view_sql` with its
/// resolved names in `view_names`, with the objects' current names.
std::string with_present_names(StatementContext& session, const Relation& view);
/// Returns a stored expression with the objects' current names.
std::string printed_expression(StatementContext& session, const Table& table,
                               const std::string& sql, Layout layout = Layout::plain);
/// Returns the name of the expression's column in a SELECT; "expr" if it has none.
std::string name_of_expression(StatementContext& session, const Table& table,
                               const std::string& sql);

}  // namespace swizzle::sql
