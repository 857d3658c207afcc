#include "sql-lite-frontend/statement/names/partitions.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

void add_with_partitions(StatementContext& session, const TablePtr& table,
                         std::vector<TablePtr>& list) {
  check_stack();
  list.push_back(table);
  for (const Oid oid : table->relation.partitions) {
    if (const TablePtr partition = session.names.table(oid)) {
      add_with_partitions(session, partition, list);
    }
  }
}

}  // namespace

std::vector<TablePtr> with_partitions(StatementContext& session, const TablePtr& table) {
  std::vector<TablePtr> list;
  add_with_partitions(session, table, list);
  return list;
}

void renew_default(StatementContext& session, const Table& parent) {
  for (const Oid oid : parent.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (!partition || !partition->relation.partition_bound->is_default) continue;
    for (const TablePtr& table : with_partitions(session, partition)) {
      const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
      session.catalog.replace(*session.transaction, *locked, Relation{locked->relation});
    }
  }
}

TablePtr join_parent(StatementContext& session, const TablePtr& parent, Oid partition) {
  renew_default(session, *parent);
  Relation relation = parent->relation;
  relation.partitions.push_back(partition);
  return session.catalog.replace(*session.transaction, *parent, std::move(relation));
}

void leave_parent(StatementContext& session, const Relation& partition) {
  const TablePtr parent = session.catalog.table(partition.partition_of);
  if (!parent) return;
  const auto& list = parent->relation.partitions;
  if (std::ranges::find(list, partition.oid) == list.end()) return;
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, parent);
  Relation relation = locked->relation;
  std::erase(relation.partitions, partition.oid);
  const TablePtr left = session.catalog.replace(*session.transaction, *locked, std::move(relation));
  renew_default(session, *left);
}

void drop_index_tree(StatementContext& session, const Index& index) {
  if (index.tree == TreeId::directory) return;
  value_of(session.shared.engine.drop_tree(*session.transaction, index.tree));
}

}  // namespace swizzle::sql
