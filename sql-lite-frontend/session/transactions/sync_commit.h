#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Waits until the followers of synchronous_standby_names have what is committed, as
/// synchronous_commit asks. A cancel ends the wait with a WARNING: what is committed stays so.
/// Throws if the session is asked to end. Pre: the transaction has ended, durably.
void await_followers(Session::State& session);

}  // namespace swizzle::sql
