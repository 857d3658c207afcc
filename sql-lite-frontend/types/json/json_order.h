#pragma once

#include <string_view>

namespace swizzle::sql {

/// PostgreSQL's order of jsonb: null, strings, numbers, false, true, arrays, objects; arrays and
/// objects with fewer elements come first, an empty array before everything. Pre: both in jsonb's
/// spelling. `strings` compares strings and keys, and must not return 0 for different ones; null:
/// bytewise.
using CompareStrings = int (*)(std::string_view left, std::string_view right);
int compare_jsonb(std::string_view left, std::string_view right, CompareStrings strings = nullptr);

}  // namespace swizzle::sql
