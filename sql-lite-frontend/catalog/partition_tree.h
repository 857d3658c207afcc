#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

/// A partitioned table with its partitions, and theirs.
struct PartitionTree {
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Node {
    TablePtr table;
    std::size_t parent = kNone;
    std::vector<std::size_t> children;  ///< by their places in `map`
    std::optional<PartitionMap> map;    ///< of a table that is partitioned
    std::size_t leaf = kNone;           ///< its place among the leaves, where it has rows
  };
  struct Leaf {
    std::size_t node = 0;
    TablePtr table;
    /// Places of the root's columns; kNone for dropped ones. Empty: the same places.
    std::vector<std::size_t> columns;
  };
  std::vector<Node> nodes;   ///< the root first, parents before their partitions
  std::vector<Leaf> leaves;  ///< in the order of their bounds

  /// `find` gives the relation of a number as it is now.
  using Find = std::function<TablePtr(Oid)>;
  static std::shared_ptr<const PartitionTree> of(const TablePtr& root, const Find& find);
  [[nodiscard]] double expected_rows() const noexcept;
};
using PartitionTreePtr = CheckedShared<const PartitionTree>;

/// Returns the place in `to` of each column of `from`, by name; kNone for dropped ones. Empty: all
/// are at the same place.
std::vector<std::size_t> column_places(const Relation& from, const Relation& to);

}  // namespace swizzle::sql
