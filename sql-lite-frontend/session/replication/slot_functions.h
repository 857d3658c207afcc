#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// pg_create_logical_replication_slot, pg_logical_slot_get_binary_changes,
/// pg_replication_slot_advance and others.
std::span<const SetEntry> slot_sets();
/// pg_control_checkpoint, pg_walfile_name_offset, pg_stat_get_wal_receiver and others.
std::span<const SetEntry> control_sets();

}  // namespace swizzle::sql
