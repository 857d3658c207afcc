#pragma once

#include <functional>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

class SubqueryExpr;
struct Cte;

/// Visitor of the subplans of a plan node: plans that it runs besides its inputs.
struct SubplanVisitor {
  std::function<void(SubqueryExpr&)> subquery;  ///< of an expression of the step, with its plan
  std::function<void(Cte&)> with_query;         ///< that the step reads, or runs
};
/// Visits the subplans of this node, not those of its inputs.
void visit_subplans(PlanOperator& step, const SubplanVisitor& visitor);

/// For EXPLAIN: stores in each node of the plan the subplans that are shown under it. Subplans that
/// run once are shown under the topmost node, as in PostgreSQL.
void note_subplans(PlanOperator& root);

}  // namespace swizzle::sql
