#pragma once

#include "sql-lite-frontend/catalog/table.h"

/// Numbers about tables that no counter has by itself.
namespace swizzle::sql {

/// The rows counted by the last ANALYZE, plus those inserted and minus those deleted since.
Value live_rows(const Table& table);
/// Removed rows that the last VACUUM had to leave.
Value dead_rows(const Table& table);
Value changes_since_analyze(const Table& table);

}  // namespace swizzle::sql
