#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

/// txid_current, pg_current_snapshot …
std::span<const SessionEntry> snapshot_functions();
/// pg_blocking_pids
std::span<const SessionEntry> blocking_functions();
/// The address of a connection's end as inet; NULL where there is none.
Value address_value(Execution& execution, const std::optional<Endpoint>& end);
/// inet_client_addr, pg_cancel_backend …
std::span<const SessionEntry> connection_functions();
/// pg_advisory_lock and its family.
std::span<const SessionEntry> advisory_functions();

/// pg_stat_get_numscans and its like
std::span<const SessionEntry> statistics_functions();
/// pg_get_replica_identity_index, pg_relation_is_publishable
std::span<const SessionEntry> replication_functions();
/// pg_drop_replication_slot, pg_logical_emit_message, pg_export_snapshot
std::span<const SessionEntry> slot_functions();
/// pg_walfile_name
std::span<const SessionEntry> control_functions();
/// pg_ls_waldir, pg_stat_get_progress_info: at start-up.
void add_log_file_sets();
/// pg_get_publication_tables, pg_create_logical_replication_slot …: at start-up.
void add_replication_sets();

/// Adds all of these, and those of the session itself: at start-up.
void add_session_functions();

/// nextval() as identity columns call it: the right to write the column includes its numbers.
const Function& identity_numbers();

}  // namespace swizzle::sql
