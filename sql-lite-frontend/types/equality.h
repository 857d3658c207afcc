#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// True for a type whose values can be grouped and compared for equality, with an order or without
/// one: xid, aclitem. False for json.
bool has_equality(TypeId type) noexcept;

/// Compares two arrays for equality; their elements need no order. Throws 42883 for elements
/// without equality.
bool equal_arrays(const Value& left, const Value& right);

}  // namespace swizzle::sql
