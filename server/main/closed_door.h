#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "server/main/listener.h"
#include "server/session/channel.h"
#include "server/session/server_context.h"
#include "server/session/session_registry.h"

namespace swizzle::server {

/// Answers the clients that come before the database is open, as that of a standby may never be:
/// FATAL 57P03, as PostgreSQL does. Has a thread that accepts them and one that answers.
class ClosedDoor {
 public:
  ClosedDoor(std::vector<ListeningSocket> sockets, std::shared_ptr<const DoorPolicy> policy,
             const ConnectionLimits& limits);
  ClosedDoor(const ClosedDoor&) = delete;
  ClosedDoor& operator=(const ClosedDoor&) = delete;
  /// Closes the sockets, unless open() has been called.
  ~ClosedDoor();

  /// Reason that clients are told from now on.
  enum class Why : std::uint8_t {
    starts,
    prepares_restore,  ///< a restore on demand
    is_standby,        ///< that answers no queries
    is_no_reader_yet,  ///< a standby that will
  };
  void tell(Why why) noexcept { why_.store(why); }

  /// Returns the sockets: clients that come from now on wait there to be accepted. Clients that are
  /// being answered are told at once. Pre: not called before.
  std::vector<ListeningSocket> open();

 private:
  void answer(Stream& stream, const Peer& peer, SocketWaiter& waiter, BufferPool& buffers);
  void answer(Channel& channel, const Peer& peer);
  void stop_accepting() noexcept;

  const std::shared_ptr<const DoorPolicy> policy_;
  SessionRegistry registry_;
  std::atomic<bool> is_opening_{false};
  std::atomic<Why> why_{Why::starts};
  boost::asio::io_context events_{1};
  std::unique_ptr<Acceptor> acceptor_;
  /// Destroyed before the acceptor, whose buffers its fibers use.
  std::unique_ptr<FiberRuntime> runtime_;
  std::thread letting_in_;
};

}  // namespace swizzle::server
