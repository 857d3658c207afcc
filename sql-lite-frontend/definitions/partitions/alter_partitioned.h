#pragma once

#include "sql-lite-frontend/definitions/tables/table_change.h"

/// ALTER TABLE of partitioned tables and partitions.
namespace swizzle::sql {

/// ALTER TABLE of a partitioned table or a partition. `only`: without its partitions.
void alter_divided(StatementContext& session, TableChange& change,
                   const ast::AlterTableCmd& command, bool only);
/// True for DETACH PARTITION … CONCURRENTLY and FINALIZE.
bool detaches_beside_users(const ast::AlterTableCmd& command);
/// Throws 42809: ATTACH and DETACH need a partitioned table.
void refuse_to_divide(const Table& table, const ast::AlterTableCmd& command);

}  // namespace swizzle::sql
