#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/statement/statement_context.h"

/// Calls of triggers' functions.
namespace swizzle::sql {

/// True if the trigger is enabled in the session's replication role. No trigger fires while the
/// session's temporary tables are cleared.
bool may_fire(StatementContext& session, const Trigger& trigger);
/// Returns the row that the function returned, in the row arena; nullopt: NULL.
std::optional<std::span<const Value>> fire_trigger(Execution& execution, const Trigger& trigger,
                                                   const TablePtr& table, TriggerEvent event,
                                                   const FiredRows& rows);
/// Fires a constraint trigger that was deferred.
void fire_deferred_trigger(StatementContext& session, const TablePtr& table,
                           const DeferredCheck& check);

}  // namespace swizzle::sql
