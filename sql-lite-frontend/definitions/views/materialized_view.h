#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

void refresh_concurrently(StatementContext& session, const TablePtr& found);
std::uint64_t fill_from_query(StatementContext& session, const TablePtr& view,
                              const TablePtr& into);
/// Replaces the relation's trees by empty ones.
TablePtr empty_relation(StatementContext& session, const TablePtr& table);

}  // namespace swizzle::sql
