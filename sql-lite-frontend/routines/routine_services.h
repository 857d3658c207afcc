#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Services of routines/ for preparing a statement.
namespace swizzle::sql {

/// Description of a CALL without running it: the columns of its result, which are the procedure's
/// OUT parameters, and the types of the statement's parameters.
struct DescribedCall {
  std::vector<OutputTarget> columns;
  std::vector<TypeId> parameter_types;
};
DescribedCall describe_call(StatementContext& session, const ast::CallStmt& statement,
                            std::span<const TypeId> types);

/// Inlines calls of SQL functions whose body is one expression, if the result does not depend on
/// the session. `arena` is the plan's. The plan still depends on the function: it is made again
/// when the function is replaced, and the right to call it is still checked.
void inline_routines(StatementContext& session, Arena& arena, PlanOperator& root);

}  // namespace swizzle::sql
