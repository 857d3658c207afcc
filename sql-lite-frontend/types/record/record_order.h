#pragma once

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

int compare_record(const Value& a, const Value& b);
std::uint64_t hash_record(const Value& value, std::uint64_t seed);
/// Good for comparing, not for an index: what is in a record is known with each value only.
void put_record_key(std::string& key, const Value& value);

inline constexpr TypeOrder kRecordOrder{
    .compare = &compare_record, .hash = &hash_record, .put_key = &put_record_key};

}  // namespace swizzle::sql
