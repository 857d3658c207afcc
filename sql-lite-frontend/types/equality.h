#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// True for a type whose values can be grouped and compared for equality, even without an order:
/// xid, aclitem. False for json.
bool has_equality(TypeId type) noexcept;

/// Compares two arrays for equality; the elements need no order. Throws 42883 if they have no
/// equality.
bool equal_arrays(const Value& left, const Value& right);

}  // namespace swizzle::sql
