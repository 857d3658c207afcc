#pragma once

#include "sql-lite-frontend/definitions/tables/table_change.h"

/// ALTER TABLE of partitioned tables and partitions.
namespace swizzle::sql {

/// The table is one of those. `only`: its partitions are to be left as they are.
void alter_divided(StatementContext& session, TableChange& change,
                   const ast::AlterTableCmd& command, bool only);
/// ATTACH and DETACH of a table that is not partitioned: 42809.
void refuse_to_divide(const Table& table, const ast::AlterTableCmd& command);

}  // namespace swizzle::sql
