#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

enum class CursorScroll : std::uint8_t { unsaid, yes, no };

/// Opens a cursor within a running statement, as a routine does. It sees the transaction's present
/// snapshot, and is one of the session's portals, by its name. Pre: the portal has a name that no
/// other has, a statement, parameters and a plan.
void open_cursor(Session::State& session, const PortalPtr& portal, CursorScroll scroll);

}  // namespace swizzle::sql
