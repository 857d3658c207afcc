#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/access/partition_pruner.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// Returns the pruner that the conditions make for the table's partitions; null: they restrict
/// nothing. Using the key does not count as reading its columns.
std::unique_ptr<PartitionPruner> pruner_of(Binder& binder, const FromTable& table,
                                           std::span<Expr* const> conditions);

/// The places of a row's columns in the root's and in a partition's layout, to copy conditions.
struct LeafColumns {
  Slot from = 0;
  Slot to = 0;
  const std::vector<std::size_t>* places = nullptr;  ///< PartitionTree::Leaf::columns
  std::size_t count = 0;                             ///< of the columns of the root
  const Table* table = nullptr;                      ///< the partition: its own tableoid

  [[nodiscard]] Slot slot_of(std::size_t position) const {
    return to + static_cast<Slot>(places->empty() ? position : (*places)[position]);
  }
};
/// Copies a condition on the table's row for a partition; `alias`: of the partition's columns. Null
/// if it cannot be copied.
ExprPtr copy_for_leaf(const Expr& condition, const LeafColumns& columns, const std::string& alias);
/// Copies a partition's condition for the root.
ExprPtr copy_for_root(const Expr& condition, const LeafColumns& columns);

}  // namespace swizzle::sql
