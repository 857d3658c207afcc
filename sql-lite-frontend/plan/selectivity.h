#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// The planner's knowledge of the columns in slots.
class ColumnKnowledge {
 public:
  struct Column {
    StatisticsPtr owner;  ///< keeps `statistics` alive
    const ColumnStatistics* statistics = nullptr;
    double rows = 1000;  ///< of its table
    bool is_unique = false;
    bool not_null = false;
  };
  void add(Slot slot, Column column) { columns_[slot] = std::move(column); }
  /// Returns null for an expression that is no table's column.
  [[nodiscard]] const Column* find(Slot slot) const;

  /// Allows computing expressions that are not constants but have the same value for all rows.
  void foresee_by(Execution& execution) noexcept { execution_ = &execution; }
  /// Returns the value of such an expression, if it is known.
  [[nodiscard]] std::optional<Value> foreseen(const Expr& expr) const;
  /// Returns the value of a fixed expression (plan/constants.h), with parameters if the plan is
  /// made for one run's. Unlike foreseen(), not only for estimates: the plan may depend on it.
  [[nodiscard]] std::optional<Value> given(const Expr& expr) const;
  /// True if given() would know it in a plan for one run's parameters.
  [[nodiscard]] bool awaits_values(const Expr& expr) const;

 private:
  std::map<Slot, Column> columns_;
  Execution* execution_ = nullptr;
};

/// Returns the share of the rows for which a condition holds, between 0 and 1; for a condition over
/// several tables, the share of all combinations of their rows.
double selectivity(const Expr& condition, const ColumnKnowledge& known);
/// Returns the selectivity of all of them together; bounds of one column from both sides count as
/// one range.
double selectivity(std::span<const ExprPtr> conditions, const ColumnKnowledge& known);
double selectivity(std::span<Expr* const> conditions, const ColumnKnowledge& known);

/// Returns the number of distinct values that an expression has among `rows` rows: for GROUP BY and
/// DISTINCT.
double distinct_values(const Expr& expr, double rows, const ColumnKnowledge& known);

/// The constant text before the first wildcard of a LIKE pattern, if the pattern is known; empty
/// when it begins with one.
struct LikePrefix {
  const Expr* column = nullptr;
  std::string prefix;
  bool is_exact = false;  ///< the pattern has no wildcard at all
};
std::optional<LikePrefix> like_prefix(const Expr& condition, const ColumnKnowledge& known);
/// Operands of `text LIKE pattern`, or null.
struct LikeOperands {
  const Expr* column = nullptr;
  const Expr* pattern = nullptr;
};
LikeOperands like_operands(const Expr& condition);

}  // namespace swizzle::sql
