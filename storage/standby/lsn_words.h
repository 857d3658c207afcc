#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace swizzle {

/// Returns an LSN as PostgreSQL writes it: two hexadecimal numbers with a slash between.
inline std::string lsn_words(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

}  // namespace swizzle
