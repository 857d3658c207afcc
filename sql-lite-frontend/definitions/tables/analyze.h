#pragma once

#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

struct StatementContext;

/// ANALYZE of one table in the session's transaction: counts its rows, samples them, and stores
/// statistics of the sample. Plans over the table are made anew once it commits.
void analyze_table(StatementContext& session, const TablePtr& table);

/// True if so many rows have changed that the statistics may be misleading.
bool wants_analyze(const Table& table);

}  // namespace swizzle::sql
