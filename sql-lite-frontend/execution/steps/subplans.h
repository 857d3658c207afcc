#pragma once

#include <functional>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

class SubqueryExpr;
struct Cte;

/// Visitor of the plans that a step runs besides its inputs.
struct SubplanVisitor {
  std::function<void(SubqueryExpr&)> subquery;  ///< of an expression of the step, with its plan
  std::function<void(Cte&)> with_query;         ///< that the step reads, or runs
};
/// Visits the subplans of this step alone, not of its inputs.
void visit_subplans(PlanOperator& step, const SubplanVisitor& visitor);

/// For EXPLAIN: notes at each line of the plan which subplans are shown under it. Subplans that run
/// once stand under the uppermost one, as in PostgreSQL.
void note_subplans(PlanOperator& root);

}  // namespace swizzle::sql
