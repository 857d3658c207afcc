#pragma once

#include "sql-lite-frontend/catalog/table.h"

/// Numbers about tables that no counter has by itself.
namespace swizzle::sql {

/// The last ANALYZE's rows, and what came and went since.
Value live_rows(const Table& table);
/// Removed rows that the last VACUUM had to leave.
Value dead_rows(const Table& table);
Value changes_since_analyze(const Table& table);

}  // namespace swizzle::sql
