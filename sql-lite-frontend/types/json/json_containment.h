#pragma once

#include <optional>
#include <string_view>

namespace swizzle::sql {

/// jsonb_contains() of a part with few members and elements, without taking the whole apart: each
/// level of it is passed over once. Nothing where the part has more, or its keys or strings are
/// escaped. Pre: both in jsonb's spelling.
std::optional<bool> contains_few(std::string_view whole, std::string_view part);

}  // namespace swizzle::sql
