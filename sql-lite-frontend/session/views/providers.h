#pragma once

#include <span>

#include "sql-lite-frontend/catalog/computed.h"

/// Views of the running server: sessions, locks, usage.
namespace swizzle::sql {

/// Rows from sessions, settings and the engine: pg_stat_activity, pg_settings, swizzle_log and
/// others.
std::span<const RowProvider> activity_providers();

/// Locks, snapshots, and versions kept for snapshots.
std::span<const RowProvider> lock_providers();

/// pg_stat_database.
std::span<const RowProvider> database_providers();

/// pg_stat_wal, pg_stat_bgwriter, pg_stat_checkpointer, pg_stat_io, pg_stat_archiver, in this
/// order.
std::span<const RowProvider> server_statistics_providers();

/// pg_stat_replication.
std::span<const RowProvider> log_sender_providers();

/// pg_subscription, pg_stat_subscription and related ones.
std::span<const RowProvider> subscription_providers();

/// Registers all of these; called at start-up.
void add_server_views();

}  // namespace swizzle::sql
