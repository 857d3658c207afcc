#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// A definition that is to be changed, or rows that are to be replaced, must not be what a
/// statement of this session reads or writes, be it a cursor's or the one that a trigger or a
/// function runs for, nor may checks of the rows be outstanding. 55006; `command` is what the error
/// says cannot be done: "ALTER TABLE".
void require_unused(const Session::State& session, const Table& table, std::string_view command);
/// The statements alone, for what is done to a table's indexes first: the error names one of them.
void require_indexes_unused(const Session::State& session, const Table& table,
                            std::string_view command);
/// The same, of a table that an index is dropped from.
void require_index_unused(const Session::State& session, const Table& table,
                          std::string_view index);

/// Keeps the routines, operators, text search configurations and dictionaries that a definition
/// names from being dropped before the defining transaction ends. 42883, 42704 if one was dropped
/// already.
void hold_named(Session::State& session, std::span<const ViewRoutine> named);

}  // namespace swizzle::sql
