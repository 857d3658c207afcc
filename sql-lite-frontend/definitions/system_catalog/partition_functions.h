#pragma once

#include "sql-lite-frontend/catalog/oid.h"

namespace swizzle::sql {

struct StatementContext;

/// Registers pg_partition_tree() and pg_partition_ancestors(). Must be called before the first
/// look-up of a function; repeated calls have no effect.
void add_partition_sets();
/// Returns the root of the partition tree that the table, or the index, belongs to; none if it is
/// in no tree.
Oid partition_root(const StatementContext& session, Oid relation);

}  // namespace swizzle::sql
