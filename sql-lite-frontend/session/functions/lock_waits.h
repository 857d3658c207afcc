#pragma once

#include <cstdint>
#include <set>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/statement/transactions/advisory_locks.h"

namespace swizzle::sql {

/// Returns the sessions that wait for locks on rows, relations or transactions.
std::set<std::int32_t> sessions_waiting_for_locks(Session::State& session);
/// Returns those waits together with the sessions that block them. Reads the whole lock table.
std::set<AdvisoryLocks::Edge> waits_for_locks(Session::State& session);

}  // namespace swizzle::sql
