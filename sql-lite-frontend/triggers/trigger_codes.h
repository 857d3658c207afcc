#pragma once

#include <map>
#include <string>
#include <tuple>

#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/write/transition_tables.h"

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

}  // namespace swizzle::sql
