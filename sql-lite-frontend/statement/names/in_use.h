#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Throws 55006 if a statement of this session reads or writes the table, or if checks of its rows
/// are outstanding. The statement may be a cursor's, or the one that a trigger or a function runs
/// for. Called before the table's definition is changed or its rows are replaced. `command` is the
/// refused command in the error: "ALTER TABLE".
void require_unused(const StatementContext& session, const Table& table, std::string_view command);
/// Checks running statements alone, for a change of a table's indexes; the error names one of them.
void require_indexes_unused(const StatementContext& session, const Table& table,
                            std::string_view command);
/// The same, of a table that an index is dropped from.
void require_index_unused(const StatementContext& session, const Table& table,
                          std::string_view index);

/// Keeps the routines, operators, text search configurations and dictionaries that a definition
/// names from being dropped before the defining transaction ends. 42883, 42704 if one was dropped
/// already.
void hold_named(StatementContext& session, std::span<const ViewRoutine> named);
/// Throws 42501 unless the user may use the type.
void require_type_usage(StatementContext& session, TypeId type);
/// The same for the types that the text of a stored query or expression names.
void require_type_usage(StatementContext& session, const std::vector<ViewType>& named);

}  // namespace swizzle::sql
