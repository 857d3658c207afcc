#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "server/main/listener.h"
#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {

/// The real network layer: sockets, reactors and fibers; behind it the sessions of the tests.
/// Listens on a unix socket in a directory of its own, and on a TCP port if one is given.
class FiberServer {
 public:
  explicit FiberServer(DoorPolicy policy = TestServer::open_door(), std::uint16_t tcp_port = 0);
  FiberServer(const FiberServer&) = delete;
  FiberServer& operator=(const FiberServer&) = delete;
  ~FiberServer();

  /// Through the unix socket.
  WireClient connect();
  [[nodiscard]] ServerContext& context() noexcept { return *context_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  std::string directory_;
  std::uint16_t port_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<ServerContext> context_;
  /// A thread of its own accepts connections.
  boost::asio::io_context events_;
  std::unique_ptr<Acceptor> acceptor_;
  FiberRuntime runtime_;
  std::thread letting_in_;
};

}  // namespace swizzle::server::testing
