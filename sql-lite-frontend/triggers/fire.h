#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>

#include "sql-lite-frontend/execute/execution.h"
#include "sql-lite-frontend/routines/trigger_call.h"

/// Calling the functions of triggers.
namespace swizzle::sql {

/// What the functions of triggers that a session has fired are made ready with.
class TriggerCodes {
 public:
  /// Kept by who runs it: another one may take its place meanwhile.
  TriggerCodePtr find(Session::State& session, const CallablePtr& callable, const TablePtr& table);

 private:
  static constexpr std::size_t kMost = 512;
  struct Known {
    RoutinePtr routine;  ///< in the version that the code is of
    TablePtr table;
    TriggerCodePtr code;
  };
  std::map<std::pair<Oid, Oid>, Known> codes_;  ///< by function and relation
};

/// Whether the session, as it is set, lets the trigger fire.
bool may_fire(const Session::State& session, const Trigger& trigger);

/// The rows of one firing; empty: there is no such row.
struct FiredRows {
  std::span<const Value> old_row;
  std::span<const Value> new_row;
};
/// The row that the function returned, in the row arena; nullopt: NULL.
std::optional<std::span<const Value>> fire(Execution& execution, const Trigger& trigger,
                                           const TablePtr& table, TriggerEvent event,
                                           const FiredRows& rows);

}  // namespace swizzle::sql
