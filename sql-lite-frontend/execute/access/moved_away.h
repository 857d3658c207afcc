#pragma once

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace swizzle::sql {

/// A row that goes to another partition leaves its tree by way of a key that no row can have, for
/// keys are prefix-free: who waited for the row finds that it went there, and is told.
inline std::string key_of_moved_away(std::string_view key) {
  return std::string{key} + std::string(1, '\0');
}

inline bool is_moved_away(Bytes key, Bytes moved_to) noexcept {
  return moved_to.size() == key.size() + 1 && std::ranges::equal(key, moved_to.first(key.size()));
}

}  // namespace swizzle::sql
