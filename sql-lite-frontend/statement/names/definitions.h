#pragma once

#include <optional>
#include <string>

#include "sql-lite-frontend/catalog/table.h"

/// Objects as the SQL that would make them: pg_get_constraintdef and its like.
namespace swizzle::sql {

struct StatementContext;

/// Pretty spares parentheses, and schemas that the search path makes needless.
enum class Layout : std::uint8_t { plain, pretty };

std::optional<std::string> definition_of_constraint(StatementContext& session, Oid constraint,
                                                    Layout layout);
/// `column` 0 is the whole index, otherwise one of its columns.
std::optional<std::string> definition_of_index(StatementContext& session, Oid index,
                                               std::int32_t column, Layout layout);
/// The query of a view with the names that its tables have now, as pg_get_viewdef shows it.
/// `wrap_column`: items of lists begin a line if they would end behind it.
std::string definition_of_view(StatementContext& session, const Table& view,
                               Layout layout = Layout::plain, int wrap_column = 0);
/// Returns the text of a view's query, or of any statement kept as `view_sql` with the meanings of
/// its names in `view_names`, under the present names.
std::string with_present_names(StatementContext& session, const Relation& view);
/// A stored expression with the names that objects have now.
std::string printed_expression(StatementContext& session, const Table& table,
                               const std::string& sql, Layout layout = Layout::plain);
/// Returns the name that a stored expression would have as a column of SELECT; "expr" for none.
std::string name_of_expression(StatementContext& session, const Table& table,
                               const std::string& sql);

}  // namespace swizzle::sql
