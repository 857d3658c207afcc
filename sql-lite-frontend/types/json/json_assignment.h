#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// jsonb[a][b]: returns the value at the path; NULL if there is none. Negative numbers count from
/// the end.
Value json_at(Arena& arena, const Value& json, std::span<const std::string> path);

/// Returns the new value for UPDATE t SET json[a][b] = x. `json` may be NULL, which counts as an
/// array if `begins_list`, else as an object. Missing containers are created; arrays are padded
/// with nulls. Throws 22023, 22P02.
Value json_assign(Arena& arena, const Value& json, std::span<const std::string> path,
                  bool begins_list, const Value& value);
/// The same through a parsed tree, for all cases: fallback of json_assign() if it cannot splice the
/// new part into the text.
Value json_assign_apart(Arena& arena, const Value& json, std::span<const std::string> path,
                        bool begins_list, const Value& value);

}  // namespace swizzle::sql
