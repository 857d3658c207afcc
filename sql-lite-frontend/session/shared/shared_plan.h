#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

/// A plan, and the conditions under which it was made; a session that takes it checks that they
/// still hold.
struct SharedPlan {
  std::shared_ptr<const Plan> plan;
  std::uint64_t catalog_version = 0;
  /// Results of ANALYZE for the plan's tables, in their order, when it was made.
  std::vector<StatisticsPtr> statistics;
};

}  // namespace swizzle::sql
