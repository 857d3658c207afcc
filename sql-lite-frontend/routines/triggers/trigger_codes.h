#pragma once

#include <map>
#include <string>
#include <tuple>

#include "sql-lite-frontend/execution/write/transition_tables.h"
#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/statement/rights/role_stamp.h"

namespace swizzle::sql {

/// Prepared code of the trigger functions that a session has fired.
class TriggerCodes {
 public:
  /// Code in use: the caller keeps it alive, because the cache may replace it meanwhile.
  struct Found {
    TriggerCodePtr code;
    TransitionTables tables;  ///< that its statements may name; without rows
  };
  Found find(StatementContext& session, const CallablePtr& callable, const TablePtr& table,
             const Trigger& trigger);

  /// Code that was fired last, which is usually fired again for the next row. Valid while the
  /// catalog and the role are unchanged. Only for triggers without transition tables.
  struct Latest {
    CallablePtr callable;
    TriggerCodePtr code;
  };
  /// Returns the code fired last. It has no callable if another trigger was fired last, or the
  /// stamp has changed. `now` has the role of the statement that fires the trigger.
  [[nodiscard]] Latest latest(const RoleStamp& now, const TablePtr& table,
                              const Trigger& trigger) const;
  void note_latest(const RoleStamp& now, const TablePtr& table, const Trigger& trigger,
                   Latest latest);

 private:
  static constexpr std::size_t kMost = 512;
  struct Known {
    RoutinePtr routine;  ///< version for which the code was made
    TablePtr table;
    std::string old_name;
    std::string new_name;
    Found found;
  };
  /// Key: the role as which the function runs, since its plans and expressions were checked for
  /// that role; function; relation; and the trigger, if that determines the meaning of names.
  std::map<std::tuple<Oid, Oid, Oid, Oid>, Known> codes_;
  Latest latest_;
  Oid latest_trigger_ = kNoOid;
  TablePtr latest_table_;
  RoleStamp latest_stamp_;
};

}  // namespace swizzle::sql
