#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "sql-lite-frontend/execute/execution.h"
#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/triggers/transition_tables.h"

/// Calling the functions of triggers.
namespace swizzle::sql {

/// What the functions of triggers that a session has fired are made ready with.
class TriggerCodes {
 public:
  /// Kept by who runs it: another one may take its place meanwhile.
  struct Found {
    TriggerCodePtr code;
    TransitionTables tables;  ///< that its statements may name, without rows
  };
  Found find(Session::State& session, const CallablePtr& callable, const TablePtr& table,
             const Trigger& trigger);

 private:
  static constexpr std::size_t kMost = 512;
  struct Known {
    RoutinePtr routine;  ///< in the version that the code is of
    TablePtr table;
    std::string old_name;
    std::string new_name;
    Found found;
  };
  /// By function and relation, and by trigger where that says what names mean.
  std::map<std::tuple<Oid, Oid, Oid>, Known> codes_;
};

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
