#pragma once

#include <string>

#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

struct StatementContext;

/// Returns a policy's condition as pg_get_expr shows it: "(owner = CURRENT_USER)". One that cannot
/// be printed is shown as it was written, with the names that relations and routines have now.
std::string shown_policy_condition(StatementContext& session, const TablePtr& table,
                                   const PolicyCondition& condition);

/// True if the condition reads the column, at `position` from 0, of the table `of`, which may be
/// the policy's own.
bool policy_reads(StatementContext& session, const TablePtr& table,
                  const PolicyCondition& condition, const Table& of, std::size_t position);

}  // namespace swizzle::sql
