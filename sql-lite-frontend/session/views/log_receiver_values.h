#pragma once

#include <array>

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// The columns of pg_stat_wal_receiver; all null while nothing is received.
using ReceiverValues = std::array<Value, 15>;
ReceiverValues log_receiver_values(const Session::State& session, Arena& arena);

}  // namespace swizzle::sql
