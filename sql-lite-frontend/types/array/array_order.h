#pragma once

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

// Compares element by element, then the numbers of elements, then the dimensions.
int compare_array(const Value& a, const Value& b);
std::uint64_t hash_array(const Value& value, std::uint64_t seed);
void put_array_key(std::string& key, const Value& value);
Value take_array_key(Bytes& key, TypeId type, Arena& arena);
// The same with another order of the elements than their type's.
int compare_array_by(CompareFunction function, const Value& a, const Value& b);
std::uint64_t hash_array_by(HashFunction function, const Value& value, std::uint64_t seed);
void put_array_key_by(void (*put)(std::string& key, const Value& element), std::string& key,
                      const Value& value);

inline constexpr TypeOrder kArrayOrder{.compare = &compare_array,
                                       .hash = &hash_array,
                                       .put_key = &put_array_key,
                                       .take_key = &take_array_key};

}  // namespace swizzle::sql
