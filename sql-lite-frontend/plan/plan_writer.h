#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/types/text/text_builder.h"

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
/// Writes the object under "Plan", indented for its place in EXPLAIN's JSON. Each level indents all
/// levels below it, so this may become long.
void write_plan_as_json(const PlanOperator& root, const PlanDetails& details, std::size_t depth,
                        TextBuilder& out);

std::string json_string(std::string_view text);

}  // namespace swizzle::sql
