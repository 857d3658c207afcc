#include "sql-lite-frontend/catalog/partition_tree.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/partition_bound.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(const PartitionTree::Find& find, PartitionTree& tree) : find_(find), tree_(tree) {}

  /// Adds the table and its heirs level by level, each once.
  void add_heirs(const TablePtr& root) {
    add_rows_of(root, PartitionTree::kNone);
    for (std::size_t at = 0; at < tree_.nodes.size(); ++at) {
      const std::vector<Oid> children = tree_.nodes[at].table->relation.children;
      for (const Oid oid : children) {
        const auto is_it = [oid](const PartitionTree::Node& node) {
          return node.table->relation.oid == oid;
        };
        if (std::ranges::any_of(tree_.nodes, is_it)) continue;
        if (const TablePtr child = find_(oid)) add_rows_of(child, at);
      }
    }
  }

  std::size_t add(const TablePtr& table, std::size_t parent) {
    check_stack();
    const Relation& relation = table->relation;
    if (!relation.is_partitioned()) return add_rows_of(table, parent);
    const std::size_t self = tree_.nodes.size();
    tree_.nodes.push_back({table, parent, {}, std::nullopt, PartitionTree::kNone});
    std::vector<TablePtr> partitions;
    std::vector<const PartitionBound*> bounds;
    for (const Oid oid : relation.partitions) {
      TablePtr partition = find_(oid);
      bounds.push_back(&bound_within(relation.oid, oid, partition));
      partitions.push_back(std::move(partition));
    }
    tree_.nodes[self].map.emplace(*relation.partition_key, std::move(bounds));
    std::vector<std::size_t> children(partitions.size());
    const std::vector<std::size_t> order = tree_.nodes[self].map->order();
    for (const std::size_t place : order) children[place] = add(partitions[place], self);
    tree_.nodes[self].children = std::move(children);
    return self;
  }

 private:
  std::size_t add_rows_of(const TablePtr& table, std::size_t parent) {
    const std::size_t self = tree_.nodes.size();
    tree_.nodes.push_back({table, parent, {}, std::nullopt, tree_.leaves.size()});
    tree_.leaves.push_back(
        {self, table, column_places(tree_.nodes.front().table->relation, table->relation)});
    return self;
  }

  const PartitionTree::Find& find_;
  PartitionTree& tree_;
};

}  // namespace

const PartitionBound& bound_within(Oid parent, Oid oid, const TablePtr& partition) {
  if (!partition || partition->relation.partition_of != parent ||
      !partition->relation.partition_bound) {
    throw_error(sqlstate::undefined_table, "could not open relation with OID {}", oid);
  }
  return *partition->relation.partition_bound;
}

std::vector<std::size_t> column_places(const Relation& from, const Relation& to) {
  const auto same = [](const Column& left, const Column& right) {
    return left.dropped == right.dropped && (left.dropped || left.name == right.name);
  };
  if (std::ranges::equal(from.columns, to.columns, same)) return {};
  std::vector<std::size_t> places;
  for (const Column& column : from.columns) {
    const auto at = std::ranges::find_if(to.columns, [&](const Column& other) {
      return !other.dropped && !column.dropped && other.name == column.name;
    });
    places.push_back(at == to.columns.end() ? PartitionTree::kNone
                                            : static_cast<std::size_t>(at - to.columns.begin()));
  }
  return places;
}

std::shared_ptr<const PartitionTree> PartitionTree::of(const TablePtr& root, const Find& find) {
  auto tree = std::make_shared<PartitionTree>();
  TreeBuilder builder{find, *tree};
  if (root->relation.is_partitioned()) {
    builder.add(root, kNone);
  } else {
    builder.add_heirs(root);
  }
  return tree;
}

double PartitionTree::expected_rows() const noexcept {
  double rows = 0;
  for (const Leaf& leaf : leaves) rows += leaf.table->expected_rows();
  return std::max(1.0, rows);
}

}  // namespace swizzle::sql
