#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "tpcc/schema.h"

namespace swizzle::tpcc {

/// As SQL writes an amount.
inline std::string money(Cents cents) {
  return fmt::format("{}{}.{:02}", cents < 0 ? "-" : "", std::abs(cents) / 100,
                     std::abs(cents) % 100);
}

}  // namespace swizzle::tpcc
