#pragma once

#include <memory>
#include <span>

#include "sql-lite-frontend/query/bound/routine_call.h"

/// Calls of routines within expressions and FROM.
namespace swizzle::sql {

/// Calls a routine; its value is in the caller's row arena. Pre: no argument is NULL if the routine
/// is strict.
Value call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                   std::span<const Value> arguments);
/// Opens a cursor over the result of a routine: the rows of a set, or the single row of any other.
std::unique_ptr<SetCursor> open_routine(Execution& caller, const RoutineCall& call,
                                        std::span<const Value> arguments);

}  // namespace swizzle::sql
