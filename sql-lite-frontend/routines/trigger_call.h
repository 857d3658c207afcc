#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// Interface between code that fires triggers and the language in which their functions are
/// written. Neither knows the other.
namespace swizzle::sql {

/// Arguments of one firing for the function: plpgsql's TG_ variables, and the rows.
struct TriggerCall {
  std::string name;
  TriggerTime time = TriggerTime::before;
  TriggerEvent event = TriggerEvent::insert;
  bool for_each_row = false;
  TablePtr table;
  std::span<const std::string> arguments;
  /// A value for each of the relation's columns, dropped ones included; empty: there is no such
  /// row.
  std::span<const Value> old_row;
  std::span<const Value> new_row;
};

/// A trigger function made ready for the triggers of one table, of the session.
class TriggerCode {
 public:
  TriggerCode() = default;
  TriggerCode(const TriggerCode&) = delete;
  TriggerCode& operator=(const TriggerCode&) = delete;
  virtual ~TriggerCode() = default;

  /// Returns the function's row, for the relation's columns, in `arena`; nullopt: it returned NULL.
  /// The result of a statement's trigger is ignored. May be entered again while it runs.
  virtual std::optional<std::span<const Value>> run(StatementContext& session,
                                                    const TriggerCall& call, Arena& arena) = 0;
};
using TriggerCodePtr = CheckedShared<TriggerCode>;

}  // namespace swizzle::sql
