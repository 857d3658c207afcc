#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/catalog/table.h"

/// Partitioning as SQL text: pg_get_partkeydef and its like.
namespace swizzle::sql {

struct StatementContext;

/// "RANGE (a, lower(b))"
std::string shown_partition_key(StatementContext& session, const Table& table);
/// "FOR VALUES FROM (1) TO (MAXVALUE)" or "DEFAULT": of a partition of `parent`.
std::string shown_partition_bound(StatementContext& session, const Table& parent,
                                  const PartitionBound& bound);
/// "(1, MAXVALUE)"
std::string shown_range_edge(StatementContext& session, const PartitionKey& key,
                             std::span<const PartitionDatum> edge);
/// Returns the condition that every row of the partition fulfils; empty, which is any row, for a
/// default partition without siblings.
std::string shown_partition_constraint(StatementContext& session, const Table& partition);

}  // namespace swizzle::sql
