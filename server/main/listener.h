#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "server/main/server_settings.h"
#include "server/protocol/buffer_pool.h"
#include "server/session/descriptor.h"
#include "server/session/server_context.h"
#include "server/session/socket_waiter.h"
#include "server/session/stream.h"

namespace boost::asio {
class io_context;
}

namespace swizzle::server {

/// A listening socket.
struct ListeningSocket {
  Descriptor descriptor;
  /// "127.0.0.1:5432" or the path of a unix socket, which is removed at the end.
  std::string name;
  bool is_unix = false;
};

/// Returns the path of the unix socket for `port` in `directory`, where clients look for it.
[[nodiscard]] std::string unix_socket_path(const std::string& directory, std::uint16_t port);

/// Opens all sockets of the settings. 58030 with the name of the one that fails.
Result<std::vector<ListeningSocket>> open_listening_sockets(const ServerSettings& settings);

/// Opens sockets on TCP alone, for other uses than sessions.
Result<std::vector<ListeningSocket>> open_tcp_sockets(const std::string& address,
                                                      std::uint16_t port);

/// Accepts connections while a thread runs its io_context, and starts a fiber for each, on the
/// reactors in turn.
class Acceptor {
 public:
  /// Serves a client until its connection ends.
  using Serve = std::function<void(Stream& stream, const Peer& peer, SocketWaiter& waiter,
                                   BufferPool& buffers)>;
  /// Long buffers are counted in `memory`; null: not counted.
  Acceptor(boost::asio::io_context& events, FiberRuntime& runtime, sql::MemoryTotal* memory,
           Serve serve, std::vector<ListeningSocket> sockets);
  /// Serves sessions.
  Acceptor(boost::asio::io_context& events, FiberRuntime& runtime, ServerContext& context,
           std::vector<ListeningSocket> sockets);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();
  /// Stops listening. Accepted connections go on, and need this object, which must outlive them.
  /// Pre: no thread runs the io_context.
  void stop() noexcept;
  /// The same, but returns the sockets open, with their waiting clients.
  std::vector<ListeningSocket> release();

 private:
  struct Door;
  void start_serving(Descriptor socket, const Peer& peer);

  FiberRuntime& runtime_;
  const Serve serve_;
  /// Shared among the connections of a reactor.
  std::vector<std::unique_ptr<BufferPool>> buffers_;
  std::vector<std::unique_ptr<Door>> doors_;
};

}  // namespace swizzle::server
