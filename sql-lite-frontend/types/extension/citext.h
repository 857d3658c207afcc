#pragma once

#include <string>

#include "sql-lite-frontend/types/datum.h"

/// citext: case-insensitive text.
namespace swizzle::sql {

int compare_citext(const Value& a, const Value& b);
/// Returns lower() of the text: ASCII letters, as in a database with the collation "C".
std::string lowered(std::string_view text);
/// Returns the text in lower case by the database's collation, if that is not bytewise.
std::string folded_citext(const Value& value, std::uint32_t database_collation);

}  // namespace swizzle::sql
