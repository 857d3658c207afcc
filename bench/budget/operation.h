#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace swizzle::bench {

/// An operation whose instructions are counted. The constructor prepares everything, so that run()
/// is counted alone.
class BudgetOperation {
 public:
  /// Distinct values of `index` that run() takes.
  static constexpr std::uint64_t kMost = 20'000;

  BudgetOperation() = default;
  BudgetOperation(const BudgetOperation&) = delete;
  BudgetOperation& operator=(const BudgetOperation&) = delete;
  virtual ~BudgetOperation() = default;

  /// Returns false if the operation failed: its count would be meaningless.
  virtual bool run(std::uint64_t index) = 0;
};

using BudgetOperations =
    std::map<std::string, std::function<std::unique_ptr<BudgetOperation>()>, std::less<>>;

void add_tree_operations(BudgetOperations& operations);
void add_lock_operations(BudgetOperations& operations);
void add_engine_operations(BudgetOperations& operations);
void add_sql_operations(BudgetOperations& operations);

}  // namespace swizzle::bench
