#pragma once

#include <span>
#include <string_view>

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

}  // namespace swizzle::sql
