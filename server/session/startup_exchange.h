#pragma once

#include <variant>

#include "server/protocol/startup.h"
#include "server/session/channel.h"
#include "server/session/server_context.h"

namespace swizzle::server {

/// The packets before the first typed message: negotiates encryption, then receives the client's
/// request.
class StartupExchange {
 public:
  /// `policy` outlives it.
  StartupExchange(Channel& channel, const Peer& peer, const DoorPolicy& policy,
                  TimePoint deadline) noexcept
      : channel_(channel), peer_(peer), policy_(policy), deadline_(deadline) {}

  /// With std::monostate the connection is closed without an answer.
  using Outcome = std::variant<std::monostate, StartupMessage, CancelRequest>;
  /// Views of the outcome are valid until the channel's next message. An error is sent to the
  /// client.
  Result<Outcome> run();

 private:
  enum class Step : std::uint8_t { next_packet, close };

  Step accept_direct_tls();
  [[nodiscard]] bool offers_tls() const noexcept;
  Result<Step> answer_tls_request();
  Result<Step> answer_gss_request();

  Channel& channel_;
  const Peer& peer_;
  const DoorPolicy& policy_;
  const TimePoint deadline_;
  bool tls_asked_ = false;
  bool gss_asked_ = false;
};

}  // namespace swizzle::server
