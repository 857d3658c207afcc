#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/session/connection.h"
#include "server/session/descriptor.h"

namespace swizzle::server::testing {

/// Big-endian pieces of messages.
std::string int16(std::uint16_t value);
std::string int32(std::uint32_t value);
/// With its NUL.
std::string text(std::string_view value);
std::string message(char kind, std::string_view body = {});

/// A message from the server; kind 0: the end of the connection.
struct Received {
  char kind = 0;
  std::string body;

  /// The field of an ErrorResponse or NoticeResponse.
  [[nodiscard]] std::string field(char name) const;
};

/// The other end of a connection, speaking bytes. Blocking, with a time limit per read.
class WireClient {
 public:
  explicit WireClient(Descriptor socket) : socket_(std::move(socket)) {}

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes);
  Received receive();
  std::optional<char> receive_byte();
  /// Receives messages up to and including one of `last`, or the end.
  std::vector<Received> receive_until(char last);
  /// Returns the kinds of these: "1 2 D C Z" is "12DCZ".
  std::string kinds_until(char last);
  /// Sends a start-up packet for `user` with trust authentication and takes everything up to
  /// ReadyForQuery. Returns the kinds.
  std::string log_in(std::string_view user = "ann", std::uint32_t version = 0x0003'0000);
  /// Sends a Query; returns the answer's kinds.
  std::string query(std::string_view sql);
  /// True if nothing arrives for a short while.
  bool is_quiet();
  void close() { socket_.close(); }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  std::uint32_t backend_id = 0;
  std::string cancel_key;

 private:
  bool receive_exactly(char* into, std::size_t size);
  Descriptor socket_;
};

std::string startup_packet(std::string_view body, std::uint32_t code = 0x0003'0000);

/// A small server: each connection is a thread that waits with poll(2).
class TestServer {
 public:
  explicit TestServer(DoorPolicy policy = open_door(), ConnectionLimits limits = {});
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  /// Ends all connections and waits for them.
  ~TestServer();

  WireClient connect(Peer peer = {});
  [[nodiscard]] ServerContext& context() noexcept { return *context_; }
  /// Waits until no connection is left.
  bool becomes_empty();

  /// Rules that trust unix sockets.
  static DoorPolicy open_door();
  static DoorPolicy door(std::string_view rules);

 private:
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<ServerContext> context_;
  std::vector<std::thread> threads_;
};

}  // namespace swizzle::server::testing
