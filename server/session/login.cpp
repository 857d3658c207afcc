#include "server/session/login.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "server/auth/scram_exchange.h"
#include "server/protocol/backend_messages.h"
#include "server/protocol/frontend_messages.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "server/session/startup_exchange.h"
#include "server/session/startup_options.h"

namespace swizzle::server {
namespace {

/// Returns the error that explains why no message came.
Error unanswered(Stop stop) {
  if (stop.error) return std::move(*stop.error);
  if (stop.kind == Stop::Kind::timed_out) {
    return Error{sqlstate::query_canceled, "canceling authentication due to timeout"};
  }
  return Error{state::connection_failure, "the client left"};
}

std::optional<std::string> user_name(uid_t user) {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return std::string{entry.pw_name};
}

}  // namespace

Login::Login(Channel& channel, const Peer& peer, ServerContext& context, std::uint32_t pid)
    : channel_(channel),
      peer_(peer),
      context_(context),
      policy_(context.policy()),
      deadline_(Runtime::current().now() + policy_->authentication_timeout) {
  channel_.set_send_timeout(policy_->authentication_timeout);
  subject_.host = peer_.address ? peer_.address->text() : "[local]";
  subject_.port = peer_.port;
  subject_.backend_pid = pid;
  subject_.connected_us = Runtime::current().wall_clock_us();
}

std::optional<Admission> Login::run() {
  const std::optional<StartupMessage> message = receive_startup();
  if (!message) return std::nullopt;
  auto options = session_options(*message);
  if (!options) {
    refuse(options.error());
    return std::nullopt;
  }
  Admission admission{std::move(*options), {}, is_physical_replication(*message)};
  subject_.user = admission.options.user;
  subject_.database = admission.options.database;
  admission.options.encryption = channel_.stream().encryption();
  if (peer_.address) admission.options.client = sql::Endpoint{peer_.address->text(), peer_.port};
  if (peer_.reached) {
    admission.options.server = sql::Endpoint{peer_.reached->text(), peer_.reached_port};
  }
  negotiate_version(*message, admission);
  if (auto done = authenticate(admission); !done) {
    // No message and no log line for a client that has left: health checks only connect.
    if (done.error().state() != state::connection_failure) refuse(done.error());
    return std::nullopt;
  }
  put_authentication(channel_.out(), AuthenticationCode::ok);
  channel_.set_limits(FrameLimits{});
  channel_.set_send_timeout(policy_->send_timeout);
  return admission;
}

std::optional<StartupMessage> Login::receive_startup() {
  auto outcome = StartupExchange{channel_, peer_, *policy_, deadline_}.run();
  if (!outcome) {
    refuse(outcome.error());
    return std::nullopt;
  }
  if (auto* message = std::get_if<StartupMessage>(&*outcome)) return std::move(*message);
  if (const auto* cancel = std::get_if<CancelRequest>(&*outcome)) {
    context_.registry().cancel(cancel->backend_id, cancel->key);
  }
  return std::nullopt;
}

void Login::negotiate_version(const StartupMessage& message, Admission& admission) {
  admission.version = negotiate(message.version);
  const std::vector<std::string_view> unknown = unknown_extensions(message);
  if (admission.version != message.version || !unknown.empty()) {
    put_negotiate_protocol_version(channel_.out(), admission.version, unknown);
  }
}

std::string Login::describe_visitor(const Visitor& visitor) const {
  const std::string host =
      visitor.address ? fmt::format("host \"{}\"", visitor.address->text()) : "host \"[local]\"";
  const std::string_view encryption =
      visitor.transport == Transport::tls ? "SSL encryption" : "no encryption";
  if (visitor.is_physical_replication)
    return fmt::format("replication connection from {}, user \"{}\", {}", host, visitor.role,
                       encryption);
  return fmt::format("{}, user \"{}\", database \"{}\", {}", host, visitor.role, visitor.database,
                     encryption);
}

Result<> Login::authenticate(Admission& admission) {
  sql::SessionOptions& options = admission.options;
  const Transport over_tcp = channel_.stream().is_tls() ? Transport::tls : Transport::tcp;
  const Visitor visitor{peer_.address ? over_tcp : Transport::unix_socket, peer_.address,
                        options.database, options.user, admission.is_physical_replication};
  const HbaRule* rule = policy_->rules.find(visitor);
  const std::string who = describe_visitor(visitor);
  if (rule == nullptr) {
    return fail(state::invalid_authorization, fmt::format("no pg_hba.conf entry for {}", who));
  }
  matched_ = fmt::format("Connection from {} matched line {} of the rules.", who, rule->line);
  switch (rule->method) {
    case AuthMethod::trust:
      return {};
    case AuthMethod::reject:
      return fail(state::invalid_authorization,
                  fmt::format("pg_hba.conf rejects connection for {}", who));
    case AuthMethod::peer:
      options.system_user = "peer:" + options.user;
      return check_peer(options);
    case AuthMethod::scram_sha_256:
      options.system_user = "scram-sha-256:" + options.user;
      return exchange_scram(options);
  }
  return fail(sqlstate::internal_error, "unknown authentication method");
}

Result<> Login::check_peer(const sql::SessionOptions& options) const {
  const auto name = peer_.user ? user_name(*peer_.user) : std::nullopt;
  if (name && *name == options.user) return {};
  return fail(state::invalid_authorization,
              fmt::format("Peer authentication failed for user \"{}\"", options.user));
}

Result<Bytes> Login::receive_password_message() {
  channel_.flush();
  auto frame = channel_.next_frame(deadline_, WakeOn::end);
  if (!frame) return fail(unanswered(std::move(frame.error())));
  if (frame->kind != FrontendKind::password) {
    return fail(state::protocol_violation,
                fmt::format("expected SASL response, got message type {}",
                            static_cast<unsigned char>(frame->kind)));
  }
  return frame->payload;
}

Result<> Login::exchange_scram(const sql::SessionOptions& options) {
  const auto stored = context_.database().password_verifier(options.user);
  const auto verifier = stored ? ScramVerifier::from_text(*stored) : std::nullopt;
  std::optional<std::string> endpoint_hash;
  if (channel_.stream().is_tls()) endpoint_hash = policy_->tls->endpoint_hash();

  // Run the same exchange for unknown roles, so that clients cannot find out which exist.
  ScramExchange exchange{
      verifier ? *verifier : ScramVerifier::pretend(options.user, context_.secret()),
      endpoint_hash};
  constexpr std::array<std::string_view, 2> kMechanisms{kScramSha256Plus, kScramSha256};
  put_authentication_sasl(channel_.out(), std::span{kMechanisms}.subspan(endpoint_hash ? 0 : 1));

  ASSIGN_OR_RETURN(const Bytes first_payload, receive_password_message());
  ASSIGN_OR_RETURN(const SaslInitialResponse initial, decode_sasl_initial(first_payload));
  if (!initial.data) {
    // An empty initial response: the client wants to hear from us first, but SCRAM begins with the
    // client.
    return fail(state::protocol_violation, "SCRAM needs an initial response");
  }
  ASSIGN_OR_RETURN(const std::string server_first,
                   exchange.begin(initial.mechanism, as_text(*initial.data)));
  put_authentication(channel_.out(), AuthenticationCode::sasl_continue, as_bytes(server_first));

  ASSIGN_OR_RETURN(const Bytes final_payload, receive_password_message());
  const std::string origin = login_origin(peer_.address, peer_.user);
  const LoginAttempt attempt{options.user, origin};
  RETURN_IF_ERROR(await_turn(attempt));
  auto server_final = exchange.finish(as_text(final_payload));
  const TimePoint now = Runtime::current().now();
  if (server_final) {
    context_.limiter().note_success(attempt, now);
    put_authentication(channel_.out(), AuthenticationCode::sasl_final, as_bytes(*server_final));
    return {};
  }
  if (server_final.error().state() != state::invalid_password) {
    return fail(std::move(server_final).error());
  }
  context_.limiter().note_failure(attempt, now);
  return fail(state::invalid_password,
              fmt::format("password authentication failed for user \"{}\"", options.user));
}

Result<> Login::await_turn(const LoginAttempt& attempt) {
  // Interval between checks for a disconnected client.
  constexpr Duration kLook = std::chrono::milliseconds{250};
  Runtime& runtime = Runtime::current();
  for (;;) {
    const TimePoint now = runtime.now();
    const Duration wait = context_.limiter().ask(attempt, now);
    if (wait == Duration::zero()) return {};
    if (channel_.is_ending() || peer_has_gone(channel_.stream().descriptor())) {
      return fail(state::connection_failure, "the client left");
    }
    if (now >= deadline_) {
      return fail(Error{state::too_many_connections,
                        fmt::format("too many failed logins of user \"{}\"", attempt.role)}
                      .with_hint("Try again later."));
    }
    runtime.parker().park_until(std::min({now + wait, now + kLook, deadline_}));
  }
}

void Login::refuse(const Error& error) {
  context_.log().write({.severity = "FATAL",
                        .message = error.message(),
                        .sqlstate = error.state().code(),
                        .detail = matched_,
                        .command_tag = "authentication"},
                       &subject_);
  put_report(channel_.out(), BackendKind::error_response, report_of(sql::Severity::fatal, error));
}

}  // namespace swizzle::server
