#include "sql-lite-frontend/types/compare.h"

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

CompareFunction compare_function(TypeId type) noexcept {
  return value_type(type).order.compare;
}

HashFunction hash_function(TypeId type) noexcept {
  return value_type(type).order.hash;
}

CompareFunction ordered(TypeId type) {
  const CompareFunction function = compare_function(type);
  if (function == nullptr)
    throw_error(sqlstate::undefined_function,
                "could not identify a comparison function for type {}", format_type(type));
  return function;
}

HashFunction hashed(TypeId type) {
  const HashFunction function = hash_function(type);
  if (function == nullptr)
    throw_error(sqlstate::undefined_function, "could not identify a hash function for type {}",
                format_type(type));
  return function;
}

int compare_with_nulls(CompareFunction function, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return static_cast<int>(a.is_null()) - static_cast<int>(b.is_null());
  return function(a, b);
}

int compare_values(TypeId type, const Value& left, const Value& right) {
  return ordered(type)(left, right);
}

std::uint64_t hash_value(TypeId type, const Value& value, std::uint64_t seed) {
  return hashed(type)(value, seed);
}

}  // namespace swizzle::sql
