#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// A definition that is to be changed, or rows that are to be replaced, must not be what a cursor
/// of this session reads, nor may checks of the rows be outstanding. 55006; `command` is what the
/// error says cannot be done: "ALTER TABLE".
void require_unused(const Session::State& session, const Table& table, std::string_view command);
/// What a cursor reads, for what is done to a table's indexes first: the error names one of them.
void require_indexes_unused(const Session::State& session, const Table& table,
                            std::string_view command);

}  // namespace swizzle::sql
