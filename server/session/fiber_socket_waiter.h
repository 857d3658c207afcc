#pragma once

#include "base/fibers/descriptor_watch.h"
#include "base/fibers/fiber_runtime.h"
#include "server/session/socket_waiter.h"

namespace swizzle::server {

/// Lets a connection's fiber wait for its socket through its reactor. Does not own the socket.
class FiberSocketWaiter final : public SocketWaiter {
 public:
  /// Pre: in a fiber of `runtime`; `socket` is non-blocking.
  FiberSocketWaiter(FiberRuntime& runtime, int socket) : runtime_(runtime), watch_(socket) {}

  bool wait(Readiness readiness, std::optional<TimePoint> deadline) noexcept override {
    using Direction = DescriptorWatch::Direction;
    return watch_.wait(readiness == Readiness::readable ? Direction::reading : Direction::writing,
                       deadline);
  }
  void settle() noexcept override { runtime_.release_unused_stack(); }

 private:
  FiberRuntime& runtime_;
  DescriptorWatch watch_;
};

}  // namespace swizzle::server
