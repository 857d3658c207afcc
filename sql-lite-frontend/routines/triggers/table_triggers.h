#pragma once

#include <span>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Fires the triggers that TRUNCATE of these tables has, before it or after it.
void fire_for_truncate(StatementContext& session, std::span<const TablePtr> tables,
                       TriggerTime time);

}  // namespace swizzle::sql
