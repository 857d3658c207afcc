#pragma once

#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"

namespace swizzle::sql {

/// jsonb_contains() of a part with few members and elements, without taking the whole apart: its
/// directories are asked, or each level is passed over once. Nothing where the part has more, or
/// its keys or strings are escaped. Pre: both in jsonb's spelling.
std::optional<bool> contains_few(const Jsonb& whole, std::string_view part);

}  // namespace swizzle::sql
