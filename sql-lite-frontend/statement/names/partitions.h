#pragma once

#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Partitions that join a table and leave it.
namespace swizzle::sql {

/// The table and all that are partitions of it, and of those: parents first.
std::vector<TablePtr> with_partitions(StatementContext& session, const TablePtr& table);
/// Replaces the definitions of the table's default partition and its partitions, because the rows
/// that it takes have changed: plans that write to them are made again.
void renew_default(StatementContext& session, const Table& parent);
/// The parent is locked for change. Its definition afterwards.
TablePtr join_parent(StatementContext& session, const TablePtr& parent, Oid partition);
/// The relation is about to go, or is no partition any more: its parent has one less.
void leave_parent(StatementContext& session, const Relation& partition);
/// Drops the index's tree. Nothing for an index without one: a primary key, whose entries are the
/// table's rows, or an index of a partitioned table.
void drop_index_tree(StatementContext& session, const Index& index);

}  // namespace swizzle::sql
