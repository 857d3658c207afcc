#pragma once

#include <map>
#include <string>
#include <tuple>

#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/write/transition_tables.h"

namespace swizzle::sql {

/// Prepared code of the trigger functions that a session has fired.
class TriggerCodes {
 public:
  /// Held by the caller that runs it: the cache may replace it meanwhile.
  struct Found {
    TriggerCodePtr code;
    TransitionTables tables;  ///< that its statements may name, without rows
  };
  Found find(Session::State& session, const CallablePtr& callable, const TablePtr& table,
             const Trigger& trigger);

  /// The function fired last, most often fired again for the next row. Valid while the catalog does
  /// not change. Only of triggers without transition tables.
  struct Latest {
    CallablePtr callable;
    TriggerCodePtr code;
  };
  /// Without a callable where another was fired last.
  [[nodiscard]] Latest latest(const Session::State& session, const TablePtr& table,
                              const Trigger& trigger) const;
  void note_latest(const Session::State& session, const TablePtr& table, const Trigger& trigger,
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
  /// Codes by function and relation, and by trigger if that has names of its own.
  std::map<std::tuple<Oid, Oid, Oid>, Known> codes_;
  Latest latest_;
  Oid latest_trigger_ = kNoOid;
  TablePtr latest_table_;
  CatalogView::Stamp latest_stamp_;
};

}  // namespace swizzle::sql
