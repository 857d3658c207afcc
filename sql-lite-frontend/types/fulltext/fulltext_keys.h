#pragma once

#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Key encodings of tsvector and tsquery.
namespace swizzle::sql {

void put_vector_key(std::string& key, const Value& vector);
Value take_vector_key(Bytes& key, Arena& arena);
/// Does not include weights and prefixes: queries that differ only in these are equal.
void put_query_key(std::string& key, const Value& query);
Value take_query_key(Bytes& key, Arena& arena);
/// Ignores weights, since equal queries may differ in them.
std::uint64_t hash_text_query(const Value& query, std::uint64_t seed);

}  // namespace swizzle::sql
