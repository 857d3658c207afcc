// Partitioned tables: which partitions are read, and how each.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/access/partition_scan.h"
#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/partition_conditions.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/key_codec.h"

namespace swizzle::sql {

Slot AccessPaths::slot_of_leaf(const FromTable& table, std::size_t leaf) {
  const PartitionTree::Leaf& of = table.partitions->leaves[leaf];
  if (of.columns.empty()) return table.first_slot;
  const auto [at, is_new] = leaf_slots_.try_emplace({table.first_slot, leaf}, 0);
  if (is_new) at->second = binder_.new_slots(of.table->relation.columns.size());
  // Columns that are read of the table are read of the partition.
  for (std::size_t i = 0; i < of.columns.size(); ++i) {
    if (of.columns[i] == PartitionTree::kNone) continue;
    if (binder_.is_used(table.first_slot + static_cast<Slot>(i))) {
      binder_.mark_used(at->second + static_cast<Slot>(of.columns[i]));
    }
  }
  return at->second;
}

std::vector<std::size_t> AccessPaths::leaves_of(const FromTable& table,
                                                const PartitionPruner* pruner) const {
  std::vector<std::size_t> list;
  std::vector<bool> wanted(table.partitions->leaves.size(), true);
  if (pruner != nullptr) {
    wanted = pruner->leaves([this](const Expr& value) { return known_.given(value); });
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) list.push_back(i);
  }
  return list;
}

/// The cheapest way for each partition, added up: a condition that any of them answers counts as
/// answered.
AccessPath AccessPaths::best_of_partitions(const FromTable& table,
                                           std::span<Expr* const> conditions,
                                           const WantedOrder* order, Identity identity) {
  check_stack();
  const auto pruner = pruner_of(binder_, table, conditions);
  const std::vector<std::size_t> leaves = leaves_of(table, pruner.get());
  AccessPath sum;
  sum.cost = cost::kRow;
  for (const std::size_t leaf : leaves) {
    const PartitionTree::Leaf& of = table.partitions->leaves[leaf];
    const FromTable partition{of.table, table.alias, slot_of_leaf(table, leaf)};
    const LeafColumns columns{table.first_slot, partition.first_slot, &of.columns,
                              table.table->relation.columns.size(), of.table.get()};
    std::vector<ExprPtr> copies;
    std::vector<Expr*> own{conditions.begin(), conditions.end()};
    if (!of.columns.empty()) {
      for (Expr*& condition : own) {
        copies.push_back(copy_for_leaf(*condition, columns, table.alias));
        if (copies.back()) condition = copies.back().get();
      }
    }
    AccessPath path = best(partition, own, leaves.size() == 1 ? order : nullptr, identity);
    if (leaves.size() == 1) return path;
    sum.cost += path.cost;
    sum.rows += path.rows;
    sum.matched += path.matched;
    for (const std::size_t answered : path.answered()) {
      if (std::ranges::find(sum.equal, answered) == sum.equal.end()) sum.equal.push_back(answered);
    }
  }
  const bool prunes_later =
      pruner && pruner->awaits_values([this](const Expr& value) { return known_.given(value); });
  if (prunes_later && !leaves.empty()) {
    const auto parts = static_cast<double>(leaves.size());
    sum.cost /= parts;
    sum.rows /= parts;
    sum.matched /= parts;
  }
  sum.rows = std::max(1.0, sum.rows);
  sum.matched = std::max(1.0, sum.matched);
  return sum;
}

namespace {

/// Takes the conditions that can be checked in each partition; the others stay.
std::vector<ExprPtr> take_copyable(std::vector<ExprPtr>& conditions, const LeafColumns& columns) {
  return take_if(conditions, [&](Expr& condition) {
    return !has_subquery(condition) && !is_volatile(condition) &&
           copy_for_leaf(condition, columns, {}) != nullptr;
  });
}

}  // namespace

PlanPtr Planner::plan_leaf(const FromTable& table, std::size_t leaf, std::string alias,
                           Conditions conditions, WantedOrder* order, TableAccess*& access) {
  const PartitionTree::Leaf& of = table.partitions->leaves[leaf];
  FromTable partition{of.table, std::move(alias), paths_.slot_of_leaf(table, leaf)};
  learn_table(partition);
  const auto identity =
      is_identified(table) ? AccessPaths::Identity::needed : AccessPaths::Identity::none;
  std::vector<TableAccess::Wanted> wanted;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    const Slot slot = table.first_slot + static_cast<Slot>(i);
    const std::size_t position = of.columns.empty() ? i : of.columns[i];
    if (binder_.is_used(slot) && position != PartitionTree::kNone)
      wanted.push_back({position, slot});
  }
  std::unique_ptr<TableAccess> made =
      table_access(partition, conditions, order, std::move(wanted), identity);
  access = made.get();
  if (!of.columns.empty()) {
    const LeafColumns columns{table.first_slot, partition.first_slot, &of.columns,
                              table.table->relation.columns.size(), of.table.get()};
    for (ExprPtr& condition : conditions) condition = copy_for_root(*condition, columns);
  }
  return filtered(std::move(made), std::move(conditions));
}

/// Returns the direction in which the leaves' rows, one leaf after the other, have the order of the
/// first sort key. Range partitions of one column have one, unless a default partition holds NULLs.
std::optional<SortDirection> Planner::order_of_leaves(const FromTable& table,
                                                      std::span<const std::size_t> leaves,
                                                      const std::vector<SortKey>& keys) {
  const PartitionTree& tree = *table.partitions;
  if (tree.is_of_heirs()) return std::nullopt;
  const PartitionKey& key = *tree.nodes.front().table->relation.partition_key;
  if (key.strategy != PartitionStrategy::range || key.columns.size() != 1 || keys.empty() ||
      key.columns[0].column == 0 || !key.columns[0].operator_class.empty()) {
    return std::nullopt;
  }
  for (const std::size_t leaf : leaves) {
    const PartitionTree::Node& node = tree.nodes[tree.leaves[leaf].node];
    if (node.parent != 0 || node.table->relation.partition_bound->is_default) return std::nullopt;
  }
  const SlotExpr* const column = as_column(*keys.front().expr);
  const auto slot = table.first_slot + static_cast<Slot>(key.columns[0].column - 1);
  if (column == nullptr || column->slot() != slot ||
      !same_keys(tree.nodes.front().map->types()[0], keys.front().expr->type())) {
    return std::nullopt;
  }
  return keys.front().direction;
}

PlanPtr Planner::plan_partitions(FromTable& table, Conditions& conditions, WantedOrder* order) {
  auto pruner = pruner_of(binder_, table, pointers(conditions));
  std::vector<std::size_t> leaves = paths_.leaves_of(table, pruner.get());
  const auto given = [this](const Expr& value) { return known_.given(value); };
  if (pruner && (leaves.size() < 2 || !pruner->awaits_values(given))) pruner.reset();
  const auto count = leaves.size();
  std::optional<SortDirection> direction;
  if (order != nullptr && order->keys != nullptr && count > 1) {
    direction = order_of_leaves(table, leaves, *order->keys);
  }
  const bool goes_back = direction == SortDirection::descending;
  if (goes_back) std::ranges::reverse(leaves);
  const bool is_numbered = count > 1 || written_slot_ == table.first_slot;
  const std::size_t columns = table.table->relation.columns.size();
  const std::vector<std::size_t> same;
  const Conditions asked =
      take_copyable(conditions, {table.first_slot, table.first_slot, &same, columns});
  std::vector<PartitionScan::Part> parts;
  std::optional<Slot> key_slot;
  if (is_identified(table)) key_slot = binder_.new_slots(2);
  double rows = 0;
  double cost = cost::kRow;
  bool is_ordered = order != nullptr && (direction || count == 1);
  for (std::size_t i = 0; i < count; ++i) {
    const PartitionTree::Leaf& of = table.partitions->leaves[leaves[i]];
    const std::size_t number = goes_back ? count - i : i + 1;
    std::string alias = is_numbered ? fmt::format("{}_{}", table.alias, number) : table.alias;
    const LeafColumns to_leaf{table.first_slot, paths_.slot_of_leaf(table, leaves[i]), &of.columns,
                              columns, of.table.get()};
    Conditions own;
    for (const ExprPtr& condition : asked) own.push_back(copy_for_leaf(*condition, to_leaf, alias));
    PartitionScan::Part part;
    part.leaf = leaves[i];
    WantedOrder own_order = order != nullptr ? *order : WantedOrder{};
    own_order.satisfied = false;
    // The keys are over the table's own columns.
    const bool wants_order = is_ordered && of.columns.empty();
    part.input = plan_leaf(table, leaves[i], std::move(alias), std::move(own),
                           wants_order ? &own_order : nullptr, part.access);
    is_ordered = is_ordered && own_order.satisfied;
    if (key_slot) part.access->keep_identity(*key_slot, *key_slot + 1);
    rows += part.input->expected_rows;
    cost += part.input->cost;
    parts.push_back(std::move(part));
  }
  if (order != nullptr) order->satisfied = is_ordered;
  learn_table(table);
  return scan_of_parts(table, std::move(parts), std::move(pruner), key_slot, {rows, cost});
}

PlanPtr Planner::scan_of_parts(const FromTable& table, std::vector<PartitionScan::Part> parts,
                               std::unique_ptr<PartitionPruner> pruner,
                               std::optional<Slot> key_slot, PartsEstimate estimate) {
  const Slot behind = partition_slot(*table.table, table.first_slot);
  if (parts.size() == 1 && !key_slot && !binder_.is_used(behind)) {
    return std::move(parts.front().input);
  }
  std::vector<Slot> outputs;
  for (const Slot slot : table_slots(table)) {
    if (binder_.is_used(slot)) outputs.push_back(slot);
  }
  const double start = parts.empty() ? 0 : parts.front().input->start_cost;
  auto scan = std::make_unique<PartitionScan>(table.table, table.alias, std::move(parts),
                                              std::move(outputs), behind, std::move(pruner),
                                              table.partitions);
  scan->expected_rows = std::max(1.0, estimate.rows);
  scan->cost = estimate.cost;
  scan->start_cost = start;
  accesses_.emplace_back(table.first_slot, scan.get());
  if (key_slot) scan->keep_identity(*key_slot, *key_slot + 1);
  return scan;
}

}  // namespace swizzle::sql
