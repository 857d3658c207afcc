#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"

/// What preparing a statement asks of routines/.
namespace swizzle::sql {

/// What is known of a CALL before it runs: what it answers with, which are the procedure's OUT
/// parameters, and the types of the statement's own parameters.
struct DescribedCall {
  std::vector<OutputTarget> columns;
  std::vector<TypeId> parameter_types;
};
DescribedCall describe_call(Session::State& session, const ast::CallStmt& statement,
                            std::span<const TypeId> types);

/// Puts the bodies of routines that are one expression in the places of their calls, where that is
/// the same to whoever asks: then nothing is called. `arena` is the plan's. What the plan depends
/// on stays: a routine that is replaced has it made again, and the right to call is asked for.
void inline_routines(Session::State& session, Arena& arena, PlanOperator& root);

}  // namespace swizzle::sql
