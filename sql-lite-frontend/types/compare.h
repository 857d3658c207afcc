#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Returns a negative number, 0 or a positive number, in the order of the type's btree class.
/// Neither value is NULL.
using CompareFunction = int (*)(const Value& left, const Value& right);
/// Equal values have equal hashes, whatever their form (numeric scales, -0.0, bpchar blanks).
using HashFunction = std::uint64_t (*)(const Value& value, std::uint64_t seed);

/// Returns null for a type without an order (or hash); the caller throws 42883.
CompareFunction compare_function(TypeId type) noexcept;
HashFunction hash_function(TypeId type) noexcept;

/// Return the function of the type; throw 42883 if it has none.
CompareFunction ordered(TypeId type);
HashFunction hashed(TypeId type);

/// NULL equals NULL and is greater than all other values.
int compare_with_nulls(CompareFunction function, const Value& a, const Value& b);
/// Hash of a NULL inside a value.
inline constexpr std::uint64_t kNullHash = 0x9b1a;

/// Pre: the type has an order.
int compare_values(TypeId type, const Value& left, const Value& right);
/// Pre: the type has a hash.
std::uint64_t hash_value(TypeId type, const Value& value, std::uint64_t seed = 0);

}  // namespace swizzle::sql
