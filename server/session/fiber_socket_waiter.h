#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>

#include "base/fiber_runtime.h"
#include "base/invariant.h"
#include "server/session/socket_waiter.h"

namespace swizzle::server {

/// Lets the fiber of a connection wait for its socket through the reactor it lives on. Does not own
/// the socket.
class FiberSocketWaiter final : public SocketWaiter {
 public:
  /// Pre: in a fiber of `runtime`; `socket` is non-blocking.
  FiberSocketWaiter(FiberRuntime& runtime, int socket);
  /// Pre: close() was called.
  ~FiberSocketWaiter() override;

  bool wait(Readiness readiness, std::optional<TimePoint> deadline) noexcept override;
  void settle() noexcept override;
  /// Ends the watching; parks until the reactor has let go. The socket stays open.
  void close() noexcept;

 private:
  /// One direction's outstanding wait. It may outlive the wait() that began it: one that is ended
  /// by an unpark leaves it for the next.
  struct Watch {
    bool is_armed = false;
    /// Where asio keeps its operation, so that waiting does not go to the heap.
    alignas(std::max_align_t) std::array<std::byte, 160> memory{};
    bool memory_in_use = false;
  };
  template <class T>
  struct WatchAllocator;
  struct Notify;

  void arm(Watch& watch, boost::asio::posix::stream_descriptor::wait_type type);

  FiberRuntime& runtime_;
  Parker& owner_;
  boost::asio::posix::stream_descriptor descriptor_;
  Watch reading_;
  Watch writing_;
};

}  // namespace swizzle::server
