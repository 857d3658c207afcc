#pragma once

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace swizzle::sql {

/// Returns the key that marks a row as moved to another partition. It cannot be the key of a row,
/// because keys are prefix-free. A transaction that waited for the row sees the mark and reports
/// the move.
inline std::string key_of_moved_away(std::string_view key) {
  return std::string{key} + std::string(1, '\0');
}

inline bool is_moved_away(Bytes key, Bytes moved_to) noexcept {
  return moved_to.size() == key.size() + 1 && std::ranges::equal(key, moved_to.first(key.size()));
}

}  // namespace swizzle::sql
