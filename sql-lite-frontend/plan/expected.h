#pragma once

#include <limits>

#include "sql-lite-frontend/query/bound/operator.h"

/// Estimates for a step above another.
namespace swizzle::sql {

constexpr double kAllRows = std::numeric_limits<double>::infinity();

/// Estimates of a plan that is about to become a step's input.
struct Expected {
  explicit Expected(const PlanOperator& plan)
      : rows(plan.expected_rows), start(plan.start_cost), cost(plan.cost) {}
  double rows;
  double start;
  double cost;
};

/// Makes a step over `input` with as many rows, and `more` cost.
inline PlanPtr over(PlanPtr step, const Expected& input, double more = 0) {
  step->expected_rows = input.rows;
  step->start_cost = input.start;
  step->cost = input.cost + more;
  return step;
}

}  // namespace swizzle::sql
