#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// string_to_array(text, separator [, null text]): its parts, which refer to the text. A NULL
/// separator splits into characters. Pre: the text is not NULL.
std::vector<Value> split_text(std::span<const Value> arguments);

}  // namespace swizzle::sql
