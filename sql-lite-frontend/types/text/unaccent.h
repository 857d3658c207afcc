#pragma once

#include <string>
#include <string_view>

namespace swizzle::sql {

/// Returns the text without diacritics, by our own rules (generate_unaccent.py).
std::string without_marks(std::string_view text);

}  // namespace swizzle::sql
