#pragma once

#include <memory>
#include <vector>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Returns a cursor over the given rows.
std::unique_ptr<SetCursor> rows_cursor(std::vector<Value> rows);

}  // namespace swizzle::sql
