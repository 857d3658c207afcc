#include <algorithm>
#include <utility>

#include "sql-lite-frontend/catalog/partition_bound.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Partitioned tables: the partitions for which their names stand, and writes to them.
namespace swizzle::sql {
namespace {

/// A virtual column is computed over the columns of the table that the statement names, so heirs
/// must compute it alike.
void require_same_expressions(const PartitionTree& tree) {
  const std::vector<Column>& columns = tree.nodes.front().table->relation.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].dropped || !columns[i].is_virtual) continue;
    for (const PartitionTree::Leaf& leaf : tree.leaves) {
      const std::size_t place = leaf.columns.empty() ? i : leaf.columns[i];
      const Relation& heir = leaf.table->relation;
      if (heir.columns[place].default_sql == columns[i].default_sql) continue;
      throw_error(sqlstate::feature_not_supported,
                  "virtual generated column \"{}\" with another expression in child table \"{}\" "
                  "is not supported",
                  columns[i].name, heir.name);
    }
  }
}

}  // namespace

PartitionTreePtr QueryBinder::partitions_of(const TablePtr& table, bool only) {
  if (!table->relation.has_parts()) return nullptr;
  if (only) {
    if (!table->relation.is_partitioned()) return nullptr;
    auto alone = std::make_shared<PartitionTree>();
    alone->nodes.push_back({table, PartitionTree::kNone, {}, std::nullopt, PartitionTree::kNone});
    return alone;
  }
  return whole_tree(table);
}

PartitionTreePtr QueryBinder::whole_tree(const TablePtr& table) {
  PartitionTreePtr tree = PartitionTree::of(table, [this](Oid oid) { return names_.table(oid); });
  for (const PartitionTree::Node& node : tree->nodes) depend_on(node.table);
  if (tree->is_of_heirs()) require_same_expressions(*tree);
  return tree;
}

std::vector<ExprPtr> Binder::bind_partition_key(const Table& partitioned, const Table& table,
                                                Slot row) {
  std::vector<ExprPtr> key;
  for (const PartitionColumn& part : partitioned.relation.partition_key->columns) {
    if (part.column == 0) {
      key.push_back(bind_table_expression(part.expression_sql, table, row, Clause::partition_key));
      continue;
    }
    const std::string& name =
        partitioned.relation.columns[static_cast<std::size_t>(part.column - 1)].name;
    const std::size_t position = table.column_position(name).value();
    const Column& column = table.relation.columns[position];
    key.push_back(std::make_unique<SlotExpr>(
        column.expression_type(), column.typmod, row + static_cast<Slot>(position),
        SlotExpr::Origin{table.relation.oid, static_cast<std::int16_t>(position + 1),
                         table.relation.name, name}));
  }
  return key;
}

std::vector<std::vector<ExprPtr>> Binder::bind_partition_keys(const PartitionTree& tree, Slot row) {
  std::vector<std::vector<ExprPtr>> keys;
  for (const PartitionTree::Node& node : tree.nodes) {
    keys.push_back(node.map ? bind_partition_key(*node.table, *tree.nodes.front().table, row)
                            : std::vector<ExprPtr>{});
  }
  return keys;
}

/// Binds the bounds of a partition, and those of its ancestors.
void Binder::bind_bounds(WriteStatement& write, Slot row) {
  TablePtr child = write.table;
  while (child->relation.is_partition()) {
    TablePtr parent = names_.table(child->relation.partition_of);
    if (!parent) return;
    PartitionedWrite::WithinBound bound;
    std::vector<const PartitionBound*> bounds;
    const PartitionBound& own = bound_within(parent->relation.oid, child->relation.oid, child);
    if (own.is_default) {
      for (const Oid oid : parent->relation.partitions) {
        const TablePtr sibling = names_.table(oid);
        if (oid == child->relation.oid) bound.place = bounds.size();
        bounds.push_back(&bound_within(parent->relation.oid, oid, sibling));
        bound.siblings.push_back(sibling);
      }
    } else {
      bounds.push_back(&own);
      bound.siblings.push_back(child);
    }
    bound.map =
        std::make_shared<const PartitionMap>(*parent->relation.partition_key, std::move(bounds));
    bound.key = bind_partition_key(*parent, *write.table, row);
    bound.parent = parent;
    write.partitions.bounds.push_back(std::move(bound));
    child = std::move(parent);
  }
}

WriteStatement Binder::leaf_statement(const WriteStatement& write,
                                      const PartitionTree::Leaf& leaf) {
  WriteStatement one;
  one.table = leaf.table;
  one.alias = leaf.table->relation.name;
  one.access = write.access;
  one.partitions.shown_as = write.table;
  one.partitions.shown_places = leaf.columns;
  // Errors show those columns of a failing row that the statement itself sets.
  one.insert.columns = write.insert.columns;
  const auto place_of = [&](std::size_t position) {
    return leaf.columns.empty() ? position : leaf.columns[position];
  };
  for (const Assignment& assignment : write.assignments) {
    one.insert.columns.push_back(assignment.position);
    one.assignments.push_back({place_of(assignment.position), nullptr});
  }
  return one;
}

/// Binds row triggers only: statement triggers are those of the table that the statement names.
void Binder::bind_leaf_triggers(WriteStatement& one) {
  bind_triggers(one);
  std::erase_if(one.triggers.fired,
                [](const FiredTriggers::Fired& fired) { return !fired.trigger->for_each_row; });
}

namespace {

/// Returns the leaf's part of an index of the root, or null.
const Index* part_of_index(const PartitionTree& tree, const PartitionTree::Leaf& leaf, Oid index) {
  std::vector<std::size_t> path;
  for (std::size_t at = leaf.node; at != 0; at = tree.nodes[at].parent) path.push_back(at);
  const Index* part = nullptr;
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto& indexes = tree.nodes[path[i]].table->relation.indexes;
    const auto found = std::ranges::find(indexes, index, &Index::parent);
    if (found == indexes.end()) return nullptr;
    part = &*found;
    index = part->oid;
  }
  return part;
}

}  // namespace

WriteStatement Binder::bind_leaf_insert(const WriteStatement& write,
                                        const PartitionTree::Leaf& leaf, Slot row) {
  WriteStatement one = leaf_statement(write, leaf);
  one.kind = WriteKind::insert;
  one.first_slot = leaf.columns.empty() ? row : new_slots(leaf.table->relation.columns.size());
  if (write.kind != WriteKind::insert) one.assignments.clear();
  bind_row_rules(one, one.first_slot);
  bind_index_expressions(one);
  one.insert.conflict.kind = write.insert.conflict.kind;
  if (write.insert.conflict.index != nullptr) {
    one.insert.conflict.index =
        part_of_index(*write.partitions.tree, leaf, write.insert.conflict.index->oid);
    if (one.insert.conflict.index == nullptr) {
      throw SqlError{sqlstate::invalid_column_reference,
                     "there is no unique or exclusion constraint matching the "
                     "ON CONFLICT specification"};
    }
  }
  if (write.insert.conflict.kind == ConflictAction::Kind::update) note_key_columns(one);
  bind_leaf_triggers(one);
  return one;
}

WriteStatement Binder::bind_leaf_change(const WriteStatement& write,
                                        const PartitionTree::Leaf& leaf) {
  WriteStatement one = leaf_statement(write, leaf);
  one.kind = write.kind;
  const std::size_t columns = leaf.table->relation.columns.size();
  one.first_slot = leaf.columns.empty() ? write.first_slot : new_slots(columns);
  const bool updates = write.changes().updates;
  one.merge_changes = {.updates = updates, .removes = write.changes().removes};
  if (updates) {
    one.new_first_slot = leaf.columns.empty() ? write.new_first_slot : new_slots(columns);
    bind_row_rules(one, one.new_first_slot);
    note_key_columns(one);
  }
  bind_index_expressions(one);
  bind_leaf_triggers(one);
  if (updates && !one.changes().removes && !write.partitions.tree->is_of_heirs()) {
    // A row that moves to another partition is removed from this one.
    const WriteKind kind = std::exchange(one.kind, WriteKind::delete_);
    bind_leaf_triggers(one);
    one.kind = kind;
  }
  return one;
}

void Binder::bind_partition_writes(WriteStatement& write) {
  if (!write.partitions.tree) return;
  const Slot row = write.written_slot();
  if (write.kind != WriteKind::delete_) {
    write.partitions.keys = bind_partition_keys(*write.partitions.tree, row);
  }
  for (const PartitionTree::Leaf& leaf : write.partitions.tree->leaves) {
    depend_on_foreign_keys(*leaf.table);
    if (write.kind != WriteKind::insert) {
      write.partitions.leaf_changes.emplace_back(bind_leaf_change(write, leaf));
    }
    // A row stays in the heir that has it; MERGE inserts into the table itself, the first leaf.
    const bool takes_rows = write.partitions.tree->is_of_heirs()
                                ? write.changes().inserts && write.partitions.leaf_inserts.empty()
                                : write.kind != WriteKind::delete_;
    if (takes_rows) write.partitions.leaf_inserts.emplace_back(bind_leaf_insert(write, leaf, row));
  }
}

}  // namespace swizzle::sql
