#pragma once

#include <string_view>

namespace swizzle::sql {

/// PostgreSQL's order of jsonb: null, strings, numbers, false, true, arrays, objects; of two arrays
/// or objects the one with fewer elements comes first, and an empty array before everything. Pre:
/// both in jsonb's spelling.
int compare_jsonb(std::string_view left, std::string_view right);

}  // namespace swizzle::sql
