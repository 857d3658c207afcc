#pragma once

#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE TABLE … PARTITION BY and PARTITION OF, ATTACH and DETACH, and how definitions of a
/// partitioned table reach its partitions.
namespace swizzle::sql {

/// Reads the partition key of a table that has its columns.
PartitionKey read_partition_key(StatementContext& session, const Relation& relation,
                                const ast::PartitionSpec& spec);
/// The values as those of the parent's key.
PartitionBound read_partition_bound(StatementContext& session, const Table& parent,
                                    const ast::PartitionBoundSpec& spec);
/// 42P17 where a partition of the name has no rows, or takes some that another one takes.
void require_free_bound(StatementContext& session, const Table& parent, std::string_view name,
                        const PartitionBound& bound, const ast::PartitionBoundSpec& spec);
/// 23514 where the parent's default partition has rows that now belong to another one.
void check_default_rows(StatementContext& session, const Table& parent,
                        const PartitionBound& bound);
/// 23514 where the table has rows beyond the bound that it is to have under the parent.
void check_rows_within(StatementContext& session, const TablePtr& table, const Table& parent,
                       const PartitionBound& bound);

/// Locks and returns the parent that PARTITION OF, or ALTER TABLE, names; throws 42809 for a table
/// that is not partitioned.
TablePtr lock_parent(StatementContext& session, const ast::RangeVar& range);
/// The relation gets the columns and checks that it has as the parent's partition.
void inherit_columns(StatementContext& session, const Relation& parent, Relation& relation);
/// The parent's keys, indexes and triggers for one of its partitions, and those below it.
void inherit_indexes(StatementContext& session, const TablePtr& parent, Oid partition);

void attach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command);
void detach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command);
/// ALTER INDEX … ATTACH PARTITION.
void attach_index(StatementContext& session, const TablePtr& parent, Oid index,
                  const ast::PartitionCmd& command);

/// A key of a partitioned table has all columns by which it is divided; else 0A000.
void require_partition_key_in(const Relation& relation, const Index& index, std::string_view kind);
/// The partition gets its part of its parent's index: one of its own that is like it, or a new one.
/// Returns the partition's definition then.
TablePtr give_index(StatementContext& session, const TablePtr& parent, const Index& index,
                    TablePtr partition);
/// Partitions' parts of the index go with it.
void drop_parts_of_index(StatementContext& session, const Table& table, Oid index);
/// True if every partition has its part of the index, and so every row is in one.
bool is_whole(StatementContext& session, const Table& table, const Index& index);

}  // namespace swizzle::sql
