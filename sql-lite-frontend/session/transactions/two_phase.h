#pragma once

#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"

/// Two-phase commit: PREPARE TRANSACTION, and COMMIT or ROLLBACK PREPARED from any session.
namespace swizzle::sql {

enum class PreparedEnd : std::uint8_t { commit, rollback };
/// COMMIT PREPARED and ROLLBACK PREPARED.
void finish_prepared(Session::State& session, std::string_view gid, PreparedEnd end,
                     ResultSink& sink);

/// Notes the end of a transaction with this number (0: none), for the functions on snapshots.
void note_end_of_number(Database::Shared& shared, std::int64_t number, bool committed,
                        Transaction::Durability durability);

/// At the start: takes the advisory locks of prepared transactions again.
void take_up_advisory_locks(Database::Shared& shared);

/// pg_prepared_xact().
void add_two_phase_sets();

}  // namespace swizzle::sql
