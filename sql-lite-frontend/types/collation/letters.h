#pragma once

#include <cstdint>

namespace swizzle::sql {

/// Rules by which characters are letters and digits, and have cases.
enum class Letters : std::uint8_t {
  ascii,
  icu,      ///< of a locale of ICU
  c_utf8,   ///< C.UTF-8 of the provider builtin: Unicode, each character by itself; ASCII's digits
  unicode,  ///< PG_UNICODE_FAST: Unicode, with mappings to several characters
};

}  // namespace swizzle::sql
