#pragma once

#include <optional>

#include "server/protocol/startup.h"
#include "server/session/channel.h"
#include "server/session/server_context.h"

namespace swizzle::server {

/// Result of a successful login.
struct Admission {
  sql::SessionOptions options;
  ProtocolVersion version;
  /// True if the client is a standby.
  bool is_physical_replication = false;
};

/// Start of a connection: encryption, start-up packet, authentication.
class Login {
 public:
  /// `pid`: number of the connection in the log.
  Login(Channel& channel, const Peer& peer, ServerContext& context, std::uint32_t pid);

  /// Returns nothing if the connection is to be closed; the error is then in the send buffer. On
  /// success AuthenticationOk is.
  std::optional<Admission> run();

 private:
  std::optional<StartupMessage> receive_startup();
  /// Also sets the session's SYSTEM_USER.
  Result<> authenticate(Admission& admission);
  Result<> check_peer(const sql::SessionOptions& options) const;
  Result<> exchange_scram(const sql::SessionOptions& options);
  Result<Bytes> receive_password_message();
  /// Waits until the next attempt with a password for this role from this address may be judged.
  Result<> await_turn(const LoginAttempt& attempt);
  void negotiate_version(const StartupMessage& message, Admission& admission);
  [[nodiscard]] std::string describe_visitor(const Visitor& visitor) const;
  void refuse(const Error& error);

  Channel& channel_;
  const Peer& peer_;
  ServerContext& context_;
  std::shared_ptr<const DoorPolicy> policy_;
  TimePoint deadline_;
  LogSubject subject_;
  /// For the log: the connection and the matching rule.
  std::string matched_;
};

}  // namespace swizzle::server
