#pragma once

#include <cstdint>
#include <span>

#include "sql-lite-frontend/types/function_registry.h"

/// hashtext() and its relatives for all types, with PostgreSQL's results (functions/hashes.cpp).
namespace swizzle::sql {

std::uint64_t hash_of_text(const Value& value, std::uint64_t seed);
std::uint64_t hash_of_padded(const Value& value, std::uint64_t seed);
std::uint64_t hash_of_int4(const Value& value, std::uint64_t seed);
/// Equal numbers have equal hashes regardless of their width.
std::uint64_t hash_of_int8(const Value& value, std::uint64_t seed);
std::uint64_t hash_of_float4(const Value& value, std::uint64_t seed);
std::uint64_t hash_of_float8(const Value& value, std::uint64_t seed);

/// Equal numbers have equal hashes regardless of their scale.
std::uint64_t hash_of_numeric(const Value& value, std::uint64_t seed);

using Hash = std::uint64_t (*)(const Value& value, std::uint64_t seed);
/// Returns the hash of PostgreSQL's default operator class for the type. Throws 42883 if there is
/// none, 0A000 if it is not supported.
Hash hash_of_values(TypeId type);

template <Hash hash>
Value hashed(FunctionContext&, std::span<const Value> a) {
  return Value::from_int(static_cast<std::int32_t>(hash(a[0], 0)));
}
template <Hash hash>
Value hashed_with_seed(FunctionContext&, std::span<const Value> a) {
  return Value::from_int(
      static_cast<std::int64_t>(hash(a[0], static_cast<std::uint64_t>(a[1].as_int8()))));
}

#define SWIZZLE_HASHES(name, extended, type, hash)      \
  {name "(" type ")", &hashed<hash>}, {                 \
    extended "(" type ",int8)", &hashed_with_seed<hash> \
  }

}  // namespace swizzle::sql
