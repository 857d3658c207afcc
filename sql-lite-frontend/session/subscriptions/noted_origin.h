#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Notes in the log that the session's transaction is a publisher's, for readers with
/// `origin = none`, which do not get it. Nothing where changes are not logged. Pre: the transaction
/// has written.
void note_origin(Session::State& session, Oid subscription, Lsn commit_there);
/// True if transactions are to be noted.
bool notes_origins(Session::State& session);

}  // namespace swizzle::sql
