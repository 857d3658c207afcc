#pragma once

#include <string>
#include <string_view>

namespace swizzle::sql {

/// The text with its letters without their marks, by rules of our own (generate_unaccent.py).
std::string without_marks(std::string_view text);

}  // namespace swizzle::sql
