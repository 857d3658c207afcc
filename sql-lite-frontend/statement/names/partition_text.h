#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/catalog/table.h"

/// Partitioning as SQL: pg_get_partkeydef and others.
namespace swizzle::sql {

struct StatementContext;

/// Returns a partition key: "RANGE (a, lower(b))".
std::string shown_partition_key(StatementContext& session, const Table& table);
/// Returns the bound of a partition of `parent`: "FOR VALUES FROM (1) TO (MAXVALUE)" or "DEFAULT".
std::string shown_partition_bound(StatementContext& session, const Table& parent,
                                  const PartitionBound& bound);
/// Returns an edge of a range: "(1, MAXVALUE)".
std::string shown_range_edge(StatementContext& session, const PartitionKey& key,
                             std::span<const PartitionDatum> edge);
/// Returns the condition that holds for all rows of the partition; empty for a default partition
/// without siblings, which takes any row.
std::string shown_partition_constraint(StatementContext& session, const Table& partition);

}  // namespace swizzle::sql
