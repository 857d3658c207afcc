#pragma once

#include <span>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Fires the BEFORE or AFTER TRUNCATE triggers of these tables.
void fire_for_truncate(StatementContext& session, std::span<const TablePtr> tables,
                       TriggerTime time);

}  // namespace swizzle::sql
