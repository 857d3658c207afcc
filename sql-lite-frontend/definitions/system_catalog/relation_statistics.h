#pragma once

#include "sql-lite-frontend/catalog/table.h"

/// Table statistics computed from several counters.
namespace swizzle::sql {

/// Returns the rows counted by the last ANALYZE, plus rows inserted and minus rows deleted since.
Value live_rows(const Table& table);
/// Returns the number of deleted rows that the last VACUUM could not remove.
Value dead_rows(const Table& table);
Value changes_since_analyze(const Table& table);

}  // namespace swizzle::sql
