#pragma once

#include <cstddef>

namespace swizzle::sql {

/// Numbers of the transaction's notifications and of its changes of channels, which ROLLBACK TO
/// goes back to.
struct PendingMark {
  std::size_t said = 0;
  std::size_t resolved = 0;
};

}  // namespace swizzle::sql
