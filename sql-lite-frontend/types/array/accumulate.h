#pragma once

#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Throws unless array_agg() or ARRAY(SELECT …) can make the array an element of one with one
/// dimension more: none is NULL (22004) or empty, and all have the first one's dimensions (2202E).
/// `first`: null for the first itself.
void require_accumulable(const Value* first, const Value& array);

}  // namespace swizzle::sql
