#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Services of routines/ for preparing a statement.
namespace swizzle::sql {

/// Description of a CALL before it runs: the columns of its result, which are the procedure's OUT
/// parameters, and the types of the statement's own parameters.
struct DescribedCall {
  std::vector<OutputTarget> columns;
  std::vector<TypeId> parameter_types;
};
DescribedCall describe_call(StatementContext& session, const ast::CallStmt& statement,
                            std::span<const TypeId> types);

/// Replaces calls of routines that are one expression by their bodies, where that gives every
/// session the same result: then nothing is called. `arena` is the plan's. The plan's dependencies
/// stay: it is made again when such a routine is replaced, and the right to call the routine is
/// checked.
void inline_routines(StatementContext& session, Arena& arena, PlanOperator& root);

}  // namespace swizzle::sql
