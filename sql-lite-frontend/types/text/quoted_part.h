#pragma once

#include <string>
#include <string_view>

#include "base/runtime/long_work.h"

namespace swizzle::sql {

/// Parses a part of a record's or range's text: up to the position outside of quotes at which
/// `at_end()` is true. Removes quotes; a backslash or a doubled quote escapes the next character.
/// `rest` is the remaining text; `take()` consumes its next character, or throws at its end.
template <class AtEnd, class Take>
std::string read_quoted_part(const std::string_view& rest, const AtEnd& at_end, const Take& take) {
  std::string out;
  bool quoted = false;
  while (quoted || !at_end()) {
    yield_point(1);
    const char letter = take();
    if (letter == '\\') {
      out += take();
    } else if (letter != '"') {
      out += letter;
    } else if (!quoted) {
      quoted = true;
    } else if (rest.starts_with('"')) {
      out += take();
    } else {
      quoted = false;
    }
  }
  return out;
}

}  // namespace swizzle::sql
