#pragma once

#include <string>

#include "sql-lite-frontend/types/datum.h"

/// citext: text of which capital and small letters are the same.
namespace swizzle::sql {

int compare_citext(const Value& a, const Value& b);
/// Returns lower() of the text: ASCII letters, as in a database with the collation "C".
std::string lowered(std::string_view text);
/// Returns the text in the small letters of a database whose text is not ordered by bytes.
std::string folded_citext(const Value& value, std::uint32_t database_collation);

}  // namespace swizzle::sql
