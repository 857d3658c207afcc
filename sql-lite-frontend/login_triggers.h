#pragma once

#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

/// Runs the event triggers of login, for a client's session before its first request. The session
/// must end if it fails.
Outcome run_login_triggers(Session& session, ResultSink& sink);

}  // namespace swizzle::sql
