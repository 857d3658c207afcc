#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sql-lite-frontend/catalog/partition_tree.h"
#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Partition pruning: derives restrictions on the partition keys from a statement's conditions and
/// computes the leaves that can have matching rows.
class PartitionPruner {
 public:
  enum class Test : std::uint8_t {
    equal,
    less,
    at_most,
    more,
    at_least,
    any_of,
    is_null,
    not_null
  };
  struct Condition {
    std::size_t column = 0;  ///< of the key
    Test test = Test::equal;
    ExprPtr value;  ///< null for is_null and not_null
  };
  /// Conditions on one partitioned table: all hold, and of each list of `either` all of one branch.
  struct Conditions {
    std::vector<Condition> all;
    std::vector<std::vector<std::vector<Condition>>> either;
    [[nodiscard]] bool empty() const noexcept { return all.empty() && either.empty(); }
  };

  /// `conditions`: by node of the tree.
  PartitionPruner(PartitionTreePtr tree, std::vector<Conditions> conditions)
      : tree_(std::move(tree)), conditions_(std::move(conditions)) {}

  /// Returns the value of an expression, or nothing if it is not known yet (e.g. at plan time).
  using Evaluate = std::function<std::optional<Value>(const Expr&)>;
  /// Returns a flag for each leaf: true if it must be scanned.
  [[nodiscard]] std::vector<bool> leaves(const Evaluate& evaluate) const;
  /// True if a value that `evaluate` does not know yet may exclude more leaves later.
  [[nodiscard]] bool awaits_values(const Evaluate& evaluate) const;
  [[nodiscard]] const PartitionTree& tree() const noexcept { return *tree_; }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit);

 private:
  void add_leaves(std::size_t node, const Evaluate& evaluate, std::vector<bool>& leaves) const;
  [[nodiscard]] std::vector<bool> children_of(std::size_t node, const Evaluate& evaluate) const;

  PartitionTreePtr tree_;
  std::vector<Conditions> conditions_;
};

}  // namespace swizzle::sql
