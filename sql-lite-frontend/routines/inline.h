#pragma once

#include "sql-lite-frontend/session/session_state.h"

namespace swizzle::sql {

/// Puts the bodies of routines that are one expression in the places of their calls, where that is
/// the same to whoever asks: then nothing is called. `arena` is the plan's. What the plan depends
/// on stays: a routine that is replaced has it made again, and the right to call is asked for.
void inline_routines(Session::State& session, Arena& arena, PlanOperator& root);

}  // namespace swizzle::sql
