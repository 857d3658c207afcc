#pragma once

#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE TABLE … PARTITION BY and PARTITION OF, ATTACH and DETACH, and recursion of DDL from a
/// partitioned table to its partitions.
namespace swizzle::sql {

/// Analyzes the partition key of a relation, whose columns are complete.
PartitionKey read_partition_key(StatementContext& session, const Relation& relation,
                                const ast::PartitionSpec& spec);
/// Analyzes the partition's bound; values are converted to the types of the parent's key.
PartitionBound read_partition_bound(StatementContext& session, const Table& parent,
                                    const ast::PartitionBoundSpec& spec);
/// Throws 42P17 if the bound is empty, or overlaps that of another partition.
void require_free_bound(StatementContext& session, const Table& parent, std::string_view name,
                        const PartitionBound& bound, const ast::PartitionBoundSpec& spec);
/// Throws 23514 if the parent's default partition contains rows of the new partition.
void check_default_rows(StatementContext& session, const Table& parent,
                        const PartitionBound& bound);
/// Throws 23514 if the table contains rows outside of the partition bound.
void check_rows_within(StatementContext& session, const TablePtr& table, const Table& parent,
                       const PartitionBound& bound);

/// Locks and returns the parent that PARTITION OF, or ALTER TABLE, names; throws 42809 for a table
/// that is not partitioned.
TablePtr lock_parent(StatementContext& session, const ast::RangeVar& range);
/// Adds the columns and checks that a partition inherits to the relation.
void inherit_columns(StatementContext& session, const Relation& parent, Relation& relation);
/// Creates the parent's keys, indexes and triggers for a partition and those below it.
void inherit_indexes(StatementContext& session, const TablePtr& parent, Oid partition);

void attach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command);
void detach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command);
/// DETACH PARTITION CONCURRENTLY: takes the partition from its parent's list, commits, and makes it
/// a table of its own when nobody uses the parent by the list of before.
void detach_beside_users(StatementContext& session, const TablePtr& parent,
                         const ast::PartitionCmd& command);
/// DETACH PARTITION FINALIZE: does the last step, where it was interrupted.
void finish_detachment(StatementContext& session, const TablePtr& parent,
                       const ast::PartitionCmd& command);
/// ALTER INDEX … ATTACH PARTITION.
void attach_index(StatementContext& session, const TablePtr& parent, Oid index,
                  const ast::PartitionCmd& command);

/// Throws 0A000 unless the key or exclusion constraint compares all columns of the partition key
/// with =.
void require_partition_key_in(const Relation& relation, const Index& index);
/// Indexes of a partition that may become a part: ATTACH PARTITION takes valid ones alone.
enum class PartsToAdopt : std::uint8_t { any, valid };
/// Attaches an equivalent index of the partition to the parent's index, or creates one. Returns the
/// partition's new definition.
TablePtr give_index(StatementContext& session, const TablePtr& parent, const Index& index,
                    TablePtr partition, PartsToAdopt from = PartsToAdopt::any);
/// Drops the partitions' indexes that are attached to the index.
void drop_parts_of_index(StatementContext& session, const Table& table, Oid index);
/// True if every partition has an attached index, so that all rows are indexed.
bool is_whole(StatementContext& session, const Table& table, const Index& index);

}  // namespace swizzle::sql
