#pragma once

#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"

namespace swizzle::sql {

/// jsonb_contains() for a part with few members and elements, without parsing the whole: uses its
/// directories, or scans each level once. Nothing if the part has more members, or escaped keys or
/// strings. Pre: both in jsonb's spelling.
std::optional<bool> contains_few(const Jsonb& whole, std::string_view part);

}  // namespace swizzle::sql
