#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// jsonb[a][b]: returns the value at the path; NULL if there is none. A number counts from the end
/// when it is negative.
Value json_at(Arena& arena, const Value& json, std::span<const std::string> path);

/// Returns the new value for UPDATE t SET json[a][b] = x. `json` may be NULL, and is a list then if
/// `begins_list`, else an object. Missing values on the way are made, lists are filled with nulls.
/// Throws 22023, 22P02.
Value json_assign(Arena& arena, const Value& json, std::span<const std::string> path,
                  bool begins_list, const Value& value);
/// The same for every value, by taking it apart: used by json_assign() if it cannot put the part
/// into the text.
Value json_assign_apart(Arena& arena, const Value& json, std::span<const std::string> path,
                        bool begins_list, const Value& value);

}  // namespace swizzle::sql
