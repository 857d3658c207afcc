#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/plan/plan_document.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// Details of a plan for EXPLAIN.
struct PlanDetails {
  bool costs = true;
  bool timing = true;
  bool buffers = false;
  ExprPrinter::Columns columns = ExprPrinter::Columns::names;
  /// For the first step's "Output"; empty: not shown.
  std::string output;
};

/// Returns the plan in PostgreSQL's words, a line each. Steps under an Instrumented show its
/// measures.
std::vector<std::string> plan_as_text(const PlanOperator& root, const PlanDetails& details);
/// Adds the plan, as the object "Plan".
void write_plan(const PlanOperator& root, const PlanDetails& details, PlanDocument& out);

}  // namespace swizzle::sql
