#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Changes when a foreign key is checked (DEFERRABLE), for the table and its partitions.
void alter_constraint(StatementContext& session, const TablePtr& table,
                      const ast::ATAlterConstraint& wanted);

}  // namespace swizzle::sql
