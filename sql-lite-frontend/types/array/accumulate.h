#pragma once

#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Throws unless array_agg() or ARRAY(SELECT …) can add the array as an element of an array with
/// one more dimension: 22004 for NULL, 2202E for an empty array or other dimensions than the first
/// one's. `first`: null for the first array itself.
void require_accumulable(const Value* first, const Value& array);

}  // namespace swizzle::sql
