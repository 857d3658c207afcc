#pragma once

#include "sql-lite-frontend/session/session_state.h"

namespace swizzle::sql {

/// To be called before a statement takes a snapshot of its own, and before it changes anything. A
/// cursor shows what was there when it was declared, and a portal what was there when it was first
/// executed; a transaction has one snapshot, so what they have not read yet is read now and kept.
/// Those that lock rows go on as they are: FOR UPDATE is about the newest rows.
void settle_cursors(Session::State& session);

}  // namespace swizzle::sql
