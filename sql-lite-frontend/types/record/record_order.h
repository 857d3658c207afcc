#pragma once

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

int compare_record(const Value& a, const Value& b);
std::uint64_t hash_record(const Value& value, std::uint64_t seed);
/// The number of fields, then per field its type, so that a key alone tells its contents, and its
/// value. Rows that are compared have the same fields, so the number and the types do not affect
/// the order.
void put_record_key(std::string& key, const Value& value);
Value take_record_key(Bytes& key, TypeId type, Arena& arena);

inline constexpr TypeOrder kRecordOrder{.compare = &compare_record,
                                        .hash = &hash_record,
                                        .put_key = &put_record_key,
                                        .take_key = &take_record_key};

}  // namespace swizzle::sql
