#pragma once

#include <span>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// string_to_array(text, separator [, null text]): returns the parts, which refer to the text. A
/// NULL separator splits into characters. The list is charged to the arena's account. Pre: the text
/// is not NULL.
CountedVector<Value> split_text(const Arena& arena, std::span<const Value> arguments);

}  // namespace swizzle::sql
