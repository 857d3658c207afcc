#pragma once

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

int compare_record(const Value& a, const Value& b);
std::uint64_t hash_record(const Value& value, std::uint64_t seed);
/// Key of a row: the number of fields, then for each its type and its value. The types make the key
/// readable without a row type. Rows that are compared have the same fields, so number and types do
/// not affect the order.
void put_record_key(std::string& key, const Value& value);
Value take_record_key(Bytes& key, TypeId type, Arena& arena);

inline constexpr TypeOrder kRecordOrder{.compare = &compare_record,
                                        .hash = &hash_record,
                                        .put_key = &put_record_key,
                                        .take_key = &take_record_key};

}  // namespace swizzle::sql
