#pragma once

#include <string_view>

#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {

/// Takes "0x", "0o" or "0b" off the text and returns the base; 10 without one of these.
constexpr int take_base(std::string_view& text) noexcept {
  if (text.size() < 2 || text.front() != '0') return 10;
  const char letter = to_lower(text[1]);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  if (base != 10) text.remove_prefix(2);
  return base;
}

}  // namespace swizzle::sql
