#pragma once

#include <string_view>

namespace swizzle::sql {

/// PostgreSQL's order of jsonb: null, strings, numbers, false, true, arrays, objects; of two arrays
/// or objects the one with fewer elements comes first, and an empty array before everything. Pre:
/// both in jsonb's spelling. `strings` orders strings and objects' names, of which those that
/// differ are not equal; null: by bytes.
using CompareStrings = int (*)(std::string_view left, std::string_view right);
int compare_jsonb(std::string_view left, std::string_view right, CompareStrings strings = nullptr);

}  // namespace swizzle::sql
