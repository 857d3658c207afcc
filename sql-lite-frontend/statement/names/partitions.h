#pragma once

#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Adding partitions to a table and removing them.
namespace swizzle::sql {

/// Returns the table and all its partitions at all levels, parents first.
std::vector<TablePtr> with_partitions(StatementContext& session, const TablePtr& table);
/// Gives the table's default partition, with its own partitions, a new version, because its implied
/// bound has changed: plans that write to it are made again.
void renew_default(StatementContext& session, const Table& parent);
/// Adds the partition to its parent. Returns the parent's new definition. Pre: the parent is locked
/// for change.
TablePtr join_parent(StatementContext& session, const TablePtr& parent, Oid partition);
/// Removes the relation from its parent's list, before a DROP or as a DETACH.
void leave_parent(StatementContext& session, const Relation& partition);
/// Drops the index's tree, if it has one: a primary key and an index of a partitioned table have
/// none.
void drop_index_tree(StatementContext& session, const Index& index);

}  // namespace swizzle::sql
