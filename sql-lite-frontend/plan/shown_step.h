#pragma once

#include <chrono>

#include "sql-lite-frontend/execution/steps/instrumented.h"

/// Functions shared by EXPLAIN's formats.
namespace swizzle::sql {

inline double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// PostgreSQL's name for the step over the two parts of a recursive WITH query.
inline constexpr const char* kRecursiveUnion = "Recursive Union";

/// Returns the step itself, below its measuring step and steps that are shown with their input.
inline const PlanOperator& shown_step(const PlanOperator& step) {
  const auto* measured = dynamic_cast<const Instrumented*>(&step);
  return measured != nullptr ? measured->step() : step;
}

inline std::size_t width_of(const PlanOperator& step) {
  return step.output_slots().size() * sizeof(std::int64_t);
}

}  // namespace swizzle::sql
