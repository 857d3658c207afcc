#pragma once

#include <optional>

#include "base/runtime/runtime.h"

namespace swizzle::server {

enum class Readiness : std::uint8_t { readable, writable };

/// Suspends the calling session until its socket is ready. The server waits through its reactors;
/// tests wait with poll(2).
class SocketWaiter {
 public:
  SocketWaiter() = default;
  SocketWaiter(const SocketWaiter&) = delete;
  SocketWaiter& operator=(const SocketWaiter&) = delete;
  virtual ~SocketWaiter() = default;

  /// Returns false when `deadline` passed. True may be spurious: callers try and wait again. An
  /// unpark() of the caller's parker ends the wait too. Pre: for readability, a read has found
  /// nothing, or less than it had room for; for writability, a write has been refused. Only changes
  /// of readiness end the wait.
  virtual bool wait(Readiness readiness, std::optional<TimePoint> deadline) noexcept = 0;
  /// Called before a wait that is likely to be long: frees unused memory of the caller's stack.
  virtual void settle() noexcept {}
};

}  // namespace swizzle::server
