#pragma once

#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// What array_agg() and ARRAY(SELECT …) ask of arrays that become one of a dimension more: none is
/// NULL (22004) or empty, and all look like the first (2202E). `first`: null for that itself.
void require_accumulable(const Value* first, const Value& array);

}  // namespace swizzle::sql
