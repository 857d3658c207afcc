#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Negative, zero or positive, as the type's btree operator class orders. Neither value is NULL.
using CompareFunction = int (*)(const Value& left, const Value& right);
/// Equal values have equal hashes, whatever their form (numeric scales, -0.0, bpchar blanks).
using HashFunction = std::uint64_t (*)(const Value& value, std::uint64_t seed);

/// Null for a type without an order (or hash): the caller says 42883.
CompareFunction compare_function(TypeId type) noexcept;
HashFunction hash_function(TypeId type) noexcept;

/// Return the functions of a type that must have one: else 42883.
CompareFunction ordered(TypeId type);
HashFunction hashed(TypeId type);

/// NULL is equal to NULL and greater than everything.
int compare_with_nulls(CompareFunction function, const Value& a, const Value& b);
/// Hash of a NULL among a value's parts.
inline constexpr std::uint64_t kNullHash = 0x9b1a;

/// Pre: the type has an order.
int compare_values(TypeId type, const Value& left, const Value& right);
/// Pre: the type has a hash.
std::uint64_t hash_value(TypeId type, const Value& value, std::uint64_t seed = 0);

}  // namespace swizzle::sql
