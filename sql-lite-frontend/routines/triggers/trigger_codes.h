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
  /// Held by the caller that runs it: the cache may replace it meanwhile.
  struct Found {
    TriggerCodePtr code;
    TransitionTables tables;  ///< that its statements may name, without rows
  };
  Found find(StatementContext& session, const CallablePtr& callable, const TablePtr& table,
             const Trigger& trigger);

  /// The code fired last, which most often is fired again for the next row. Valid while the catalog
  /// and the role are the same. Only of triggers that name no transition tables.
  struct Latest {
    CallablePtr callable;
    TriggerCodePtr code;
  };
  /// Without a callable where another was fired last, or under another stamp. The role of `now` is
  /// that of the statement that fires.
  [[nodiscard]] Latest latest(const RoleStamp& now, const TablePtr& table,
                              const Trigger& trigger) const;
  void note_latest(const RoleStamp& now, const TablePtr& table, const Trigger& trigger,
                   Latest latest);

 private:
  static constexpr std::size_t kMost = 512;
  struct Known {
    RoutinePtr routine;  ///< in the version that the code is of
    TablePtr table;
    std::string old_name;
    std::string new_name;
    Found found;
  };
  /// By the role that the function runs as, since plans and expressions in its code were checked
  /// for that role; by function and relation; and by trigger where that says what names mean.
  std::map<std::tuple<Oid, Oid, Oid, Oid>, Known> codes_;
  Latest latest_;
  Oid latest_trigger_ = kNoOid;
  TablePtr latest_table_;
  RoleStamp latest_stamp_;
};

}  // namespace swizzle::sql
