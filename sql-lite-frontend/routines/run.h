#pragma once

#include <memory>
#include <span>

#include "sql-lite-frontend/query/bound/routine_call.h"

/// Calls of routines within expressions and FROM.
namespace swizzle::sql {

/// Returns the value, which lives in the caller's row arena. Pre: no argument is NULL if the
/// routine is strict.
Value call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                   std::span<const Value> arguments);
/// Returns the rows of a routine that returns a set, and the only one of any other.
std::unique_ptr<SetCursor> open_routine(Execution& caller, const RoutineCall& call,
                                        std::span<const Value> arguments);

}  // namespace swizzle::sql
