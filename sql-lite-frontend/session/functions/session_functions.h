#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

struct StatementContext;

/// txid_current, pg_current_snapshot and others.
std::span<const SessionEntry> snapshot_functions();
/// pg_blocking_pids
std::span<const SessionEntry> blocking_functions();
/// Returns a connection's address as inet; NULL if it has none.
Value address_value(Execution& execution, const std::optional<Endpoint>& end);
/// Makes the other sessions of a database end. Throws 42501, before any does, unless the asking
/// session may end each of them.
void end_other_sessions(Database::Shared& shared, StatementContext& asking, Oid database);
/// inet_client_addr, pg_cancel_backend and others.
std::span<const SessionEntry> connection_functions();
/// lo_open and the other functions of large objects.
std::span<const SessionEntry> large_object_functions();
/// pg_read_file and pg_read_binary_file.
std::span<const SessionEntry> file_functions();
/// pg_ls_dir and pg_stat_file.
std::span<const SetEntry> file_sets();
/// pg_advisory_lock and its family.
std::span<const SessionEntry> advisory_functions();

/// pg_stat_get_numscans and others.
std::span<const SessionEntry> statistics_functions();
/// pg_get_replica_identity_index, pg_relation_is_publishable
std::span<const SessionEntry> replication_functions();
/// pg_drop_replication_slot, pg_logical_emit_message, pg_export_snapshot
std::span<const SessionEntry> slot_functions();
/// pg_walfile_name
std::span<const SessionEntry> control_functions();
/// Registers pg_ls_waldir and pg_stat_get_progress_info; called at start-up.
void add_log_file_sets();
/// Registers pg_get_publication_tables, pg_create_logical_replication_slot and others; called at
/// start-up.
void add_replication_sets();

/// Registers all of these and the session's own; called at start-up.
void add_session_functions();

/// Returns nextval() for identity columns: the right to write the column suffices.
const Function& identity_numbers();

}  // namespace swizzle::sql
