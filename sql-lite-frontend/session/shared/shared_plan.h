#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

/// A plan in the shared cache with the conditions under which it was made. A session checks that
/// they still hold before it uses the plan.
struct SharedPlan {
  std::shared_ptr<const Plan> plan;
  std::uint64_t catalog_version = 0;
  /// Statistics of the plan's tables, in their order, at the time of planning.
  std::vector<StatisticsPtr> statistics;
};

}  // namespace swizzle::sql
