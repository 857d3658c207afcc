#pragma once

#include <cstdint>
#include <set>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/statement/transactions/advisory_locks.h"

namespace swizzle::sql {

/// Returns the sessions that wait for rows, relations or transactions now.
std::set<std::int32_t> sessions_waiting_for_locks(Session::State& session);
/// Returns such waits with the sessions that they are for. Reads the whole table of locks.
std::set<AdvisoryLocks::Edge> waits_for_locks(Session::State& session);

}  // namespace swizzle::sql
