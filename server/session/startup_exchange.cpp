#include "server/session/startup_exchange.h"

#include <utility>

#include "server/protocol/sqlstates.h"

namespace swizzle::server {

namespace {

/// The first byte of a TLS handshake. No start-up packet that is short enough begins with it.
constexpr std::byte kTlsHandshake{0x16};

}  // namespace

Result<StartupExchange::Outcome> StartupExchange::run() {
  const auto first = channel_.first_byte(deadline_);
  if (!first) return std::monostate{};
  if (*first == kTlsHandshake && accept_direct_tls() == Step::close) return std::monostate{};
  for (;;) {
    const auto packet = channel_.next_startup_packet(deadline_);
    // A client of another protocol gets no answer.
    if (!packet) return std::monostate{};
    ASSIGN_OR_RETURN(StartupPacket decoded, decode_startup(*packet));
    if (auto* message = std::get_if<StartupMessage>(&decoded)) return std::move(*message);
    if (const auto* cancel = std::get_if<CancelRequest>(&decoded)) return *cancel;
    ASSIGN_OR_RETURN(const Step step, std::holds_alternative<SslRequest>(decoded)
                                          ? answer_tls_request()
                                          : answer_gss_request());
    if (step == Step::close) return std::monostate{};
  }
}

bool StartupExchange::offers_tls() const noexcept {
  return policy_.tls != nullptr && peer_.address;
}

/// A client that begins with TLS must name the protocol (ALPN): the port says nothing about it.
StartupExchange::Step StartupExchange::accept_direct_tls() {
  tls_asked_ = true;
  if (!offers_tls() || !channel_.accept_tls(*policy_.tls, deadline_)) return Step::close;
  return channel_.stream().has_protocol() ? Step::next_packet : Step::close;
}

Result<StartupExchange::Step> StartupExchange::answer_tls_request() {
  // A second request is a protocol violation, and would let a peer keep us busy for ever.
  if (std::exchange(tls_asked_, true)) return Step::close;
  // Bytes after the request came unencrypted; under TLS they would be taken for the client's.
  if (channel_.has_unread_bytes())
    return fail(state::protocol_violation, "received unencrypted data after SSL request");
  channel_.put_raw(offers_tls() ? 'S' : 'N');
  channel_.flush();
  if (!offers_tls()) return Step::next_packet;
  return channel_.accept_tls(*policy_.tls, deadline_) ? Step::next_packet : Step::close;
}

Result<StartupExchange::Step> StartupExchange::answer_gss_request() {
  if (std::exchange(gss_asked_, true)) return Step::close;
  if (channel_.has_unread_bytes())
    return fail(state::protocol_violation,
                "received unencrypted data after GSSAPI encryption request");
  channel_.put_raw('N');
  channel_.flush();
  return Step::next_packet;
}

}  // namespace swizzle::server
