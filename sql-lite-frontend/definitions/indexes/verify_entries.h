#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Compares the entries of a table's indexes with its rows, in one view of the newest commits.
/// Returns a line for each index that has entries of no row or, if it is valid, lacks some.
/// Pre: the relation is locked, so that its definition stays.
[[nodiscard]] std::vector<std::string> verify_entries(StatementContext& session,
                                                      const TablePtr& table);

}  // namespace swizzle::sql
