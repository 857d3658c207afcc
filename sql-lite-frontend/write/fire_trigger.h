#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/bound/execution.h"
#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/write/transition_tables.h"

/// Interface between writing rows and triggers/, which calls the triggers' functions.
namespace swizzle::sql {

/// Whether the session, as it is set, lets the trigger fire.
bool may_fire(Session::State& session, const Trigger& trigger);

/// The rows of one firing; empty: there is no such row.
struct FiredRows {
  std::span<const Value> old_row;
  std::span<const Value> new_row;
  const TransitionRows* changed = nullptr;  ///< for a trigger that names transition tables
};
/// The row that the function returned, in the row arena; nullopt: NULL.
std::optional<std::span<const Value>> fire(Execution& execution, const Trigger& trigger,
                                           const TablePtr& table, TriggerEvent event,
                                           const FiredRows& rows);

/// A constraint trigger's firing that was put off.
void fire_deferred(Session::State& session, const TablePtr& table, const DeferredCheck& check);

}  // namespace swizzle::sql
