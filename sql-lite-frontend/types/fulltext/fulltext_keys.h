#pragma once

#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Keys of tsvector and tsquery: bytes that order as the values do.
namespace swizzle::sql {

void put_vector_key(std::string& key, const Value& vector);
Value take_vector_key(Bytes& key, Arena& arena);
/// Weights and prefixes are not in it: queries that differ in these alone are equal.
void put_query_key(std::string& key, const Value& query);
Value take_query_key(Bytes& key, Arena& arena);
/// Equal queries may differ in weights.
std::uint64_t hash_text_query(const Value& query, std::uint64_t seed);

}  // namespace swizzle::sql
