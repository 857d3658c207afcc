#include "server/session/startup_exchange.h"

#include <utility>

#include "server/protocol/sqlstates.h"

namespace swizzle::server {

Result<StartupExchange::Outcome> StartupExchange::run() {
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

Result<StartupExchange::Step> StartupExchange::answer_tls_request() {
  // A second request is a protocol violation, and would let a peer keep us busy for ever.
  if (std::exchange(tls_asked_, true)) return Step::close;
  // Bytes after the request came unencrypted; under TLS they would be taken for the client's.
  if (channel_.has_unread_bytes())
    return fail(state::protocol_violation, "received unencrypted data after SSL request");
  const bool offers_tls = policy_.tls != nullptr && peer_.address;
  channel_.put_raw(offers_tls ? 'S' : 'N');
  channel_.flush();
  if (!offers_tls) return Step::next_packet;
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
