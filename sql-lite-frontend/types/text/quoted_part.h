#pragma once

#include <string>
#include <string_view>

#include "base/runtime/long_work.h"

namespace swizzle::sql {

/// A part of the text of a record or a range: up to where `at_end()` says so outside of quotes.
/// Quotes fall away, and a backslash or a second quote keeps what follows. `rest` is the text from
/// here on, of which `take()` takes the next letter, or fails where there is none.
template <class AtEnd, class Take>
std::string read_quoted_part(const std::string_view& rest, const AtEnd& at_end, const Take& take) {
  std::string out;
  bool quoted = false;
  while (quoted || !at_end()) {
    count_work(1);
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
