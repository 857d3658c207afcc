#pragma once

#include <cstddef>

namespace swizzle::sql {

/// Counts of the transaction's notifications and changes of channels, to which ROLLBACK TO returns.
struct PendingMark {
  std::size_t said = 0;
  std::size_t resolved = 0;
};

}  // namespace swizzle::sql
