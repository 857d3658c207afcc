#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Waits until the followers of synchronous_standby_names have the commit, to the degree that
/// synchronous_commit asks for. A cancel ends the wait with a WARNING; the commit stands. Throws if
/// the session is asked to end. Pre: the transaction has ended, durably.
void await_followers(Session::State& session);

}  // namespace swizzle::sql
