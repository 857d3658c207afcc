#pragma once

#include <array>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/datum.h"
#include "storage/logical/slots.h"

namespace swizzle::sql {

/// A row of pg_get_replication_slots().
using SlotValues = std::array<Value, 20>;
SlotValues slot_values(StatementContext& session, Arena& arena, const swizzle::Slot& slot);

}  // namespace swizzle::sql
