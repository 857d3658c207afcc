#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

void refresh_concurrently(Session::State& session, const TablePtr& found);
void fill_from_query(Session::State& session, const TablePtr& view, const TablePtr& into);
/// Gives it new trees without rows.
TablePtr empty_relation(Session::State& session, const TablePtr& table);

}  // namespace swizzle::sql
