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

/// A partitioned table with all its partitions, at all levels; or a table with all tables that
/// inherit from it, which is the first leaf itself, as it has rows of its own.
struct PartitionTree {
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Node {
    TablePtr table;
    std::size_t parent = kNone;
    std::vector<std::size_t> children;  ///< by index in `map`
    std::optional<PartitionMap> map;    ///< of a partitioned table
    std::size_t leaf = kNone;           ///< index among the leaves, if it has rows
  };
  struct Leaf {
    std::size_t node = 0;
    TablePtr table;
    /// Index of the leaf's column for each column of the root; kNone for dropped ones. Empty: the
    /// same indexes.
    std::vector<std::size_t> columns;
  };
  std::vector<Node> nodes;   ///< root first, parents before their partitions
  std::vector<Leaf> leaves;  ///< ordered by their bounds; of heirs, nearer ones first

  /// True for a table with its heirs, among which nothing says where a row belongs.
  [[nodiscard]] bool is_of_heirs() const noexcept {
    return !nodes.front().table->relation.is_partitioned();
  }

  /// Returns the current relation with that number.
  using Find = std::function<TablePtr(Oid)>;
  static std::shared_ptr<const PartitionTree> of(const TablePtr& root, const Find& find);
  [[nodiscard]] double expected_rows() const noexcept;
};
using PartitionTreePtr = CheckedShared<const PartitionTree>;

/// Returns, by name, the index in `to` of each column of `from`; kNone for dropped ones. Empty: all
/// indexes are the same.
std::vector<std::size_t> column_places(const Relation& from, const Relation& to);

}  // namespace swizzle::sql
