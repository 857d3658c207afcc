#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// Interface between the code that fires triggers and the languages of their functions, which makes
/// both independent of each other.
namespace swizzle::sql {

/// Arguments of one call of a trigger function: the values for TG_ variables, and the rows.
struct TriggerCall {
  std::string name;
  TriggerTime time = TriggerTime::before;
  TriggerEvent event = TriggerEvent::insert;
  bool for_each_row = false;
  TablePtr table;
  std::span<const std::string> arguments;
  /// One value per column of the relation, including dropped ones; empty if there is no such row.
  std::span<const Value> old_row;
  std::span<const Value> new_row;
};

/// A trigger function prepared for the triggers of one table. Belongs to the session.
class TriggerCode {
 public:
  TriggerCode() = default;
  TriggerCode(const TriggerCode&) = delete;
  TriggerCode& operator=(const TriggerCode&) = delete;
  virtual ~TriggerCode() = default;

  /// Returns the function's result row, with the relation's columns, in `arena`; nullopt if it
  /// returned NULL. The result of a statement-level trigger is ignored. Reentrant.
  virtual std::optional<std::span<const Value>> run(StatementContext& session,
                                                    const TriggerCall& call, Arena& arena) = 0;
};
using TriggerCodePtr = CheckedShared<TriggerCode>;

/// The function of an event trigger, prepared. Belongs to the session.
class EventTriggerCode {
 public:
  EventTriggerCode() = default;
  EventTriggerCode(const EventTriggerCode&) = delete;
  EventTriggerCode& operator=(const EventTriggerCode&) = delete;
  virtual ~EventTriggerCode() = default;

  /// `tag` is the statement's, as in CommandComplete. Reentrant.
  virtual void run(StatementContext& session, std::string_view event, std::string_view tag) = 0;
};
using EventTriggerCodePtr = CheckedShared<EventTriggerCode>;

}  // namespace swizzle::sql
