#include "server/console/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "server/auth/base64.h"
#include "server/auth/crypto.h"
#include "server/auth/scram_verifier.h"
#include "server/console/form.h"
#include "server/console/questions.h"
#include "server/observability/json_text.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"

namespace swizzle::server {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kBearer = "Bearer ";

HttpResponse failure(unsigned status, std::string_view message, std::string_view state = {}) {
  std::string body = R"({"error":)";
  append_json_text(body, message);
  body += R"(,"sqlstate":)";
  append_json_text(body, state);
  body += "}";
  return {.status = status, .content_type = kJson, .body = std::move(body)};
}

HttpResponse failure(const sql::Diagnostic& diagnostic) {
  const bool is_right = diagnostic.state == sqlstate::insufficient_privilege;
  return failure(is_right ? 403 : 500, diagnostic.message, diagnostic.state.code());
}

std::string fresh_token() {
  std::array<std::byte, 32> bytes;
  fill_random(bytes);
  return encode_base64(bytes);
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "{}\"{}\":", out.ends_with('{') ? "" : ",", name);
  append_json_text(out, text);
}

bool is_true(const std::optional<std::string>& value) {
  return value == "t";
}

}  // namespace

Console::Console(ServerContext& context, std::function<void()> on_end)
    : context_(context), on_end_(std::move(on_end)) {}

Console::~Console() = default;

HttpResponse Console::answer(const HttpRequest& request) {
  // A page of another site can send neither the marker nor a token without a preflight request.
  if (request.is_post &&
      (request.marker.empty() || is_of_another_site(request.origin, request.host))) {
    return failure(403, "the request does not come from the console's own page");
  }
  forget_unused(Runtime::current().now());
  if (request.path == "/api/door") {
    const auto why_not = refusal(request);
    return {.content_type = kJson,
            .body = why_not ? failure(200, *why_not).body : std::string{R"({"error":null})"}};
  }
  if (request.is_post) {
    if (request.path == "/api/login") return log_in(request);
    if (request.path == "/api/logout") return log_out(request);
    if (request.path == "/api/cancel") return cancel(request);
    return failure(405, "this is read, not written");
  }
  if (const Question* const question = find_question(request.path)) {
    return answer_question(*question, request);
  }
  if (request.path == "/api/errors") {
    Login* const login = find(request);
    return login == nullptr ? failure(401, "log in first") : show_troubles(*login);
  }
  return failure(404, "there is no such question");
}

std::optional<std::string> Console::refusal(const HttpRequest& request) const {
  const auto policy = context_.policy();
  if (is_closed_) return "The server is stopping.";
  switch (policy->console_login) {
    case ConsoleLogin::off:
      return "Logins are off (console_login).";
    case ConsoleLogin::loopback:
      // Checks the name as well: another site's name may resolve to this address.
      if (!request.peer || !request.peer->is_loopback() ||
          !is_loopback_name(host_name(request.host))) {
        return "Logins are for this machine only (console_login).";
      }
      return std::nullopt;
    case ConsoleLogin::on:
      return std::nullopt;
  }
  return "Logins are off (console_login).";
}

void Console::note_refusal(const HttpRequest& request, const std::string& user,
                           const std::string& database, std::string_view message, SqlState state) {
  LogSubject subject;
  subject.user = user;
  subject.database = database;
  subject.application = "swizzle console";
  subject.host = request.peer ? request.peer->text() : "";
  subject.port = request.peer_port;
  subject.connected_us = Runtime::current().wall_clock_us();
  context_.log().write({.severity = "FATAL",
                        .message = message,
                        .sqlstate = state.code(),
                        .command_tag = "authentication"},
                       &subject);
}

std::optional<HttpResponse> Console::prove(const HttpRequest& request, const std::string& user,
                                           const std::string& database,
                                           const std::string& password) {
  const auto refuse = [&](unsigned status, SqlState state, const std::string& message) {
    note_refusal(request, user, database, message, state);
    return failure(status, message, state.code());
  };
  const auto policy = context_.policy();
  const Visitor visitor{Transport::tcp, request.peer, database, user};
  const HbaRule* const rule = policy->rules.find(visitor);
  if (rule == nullptr || rule->method == AuthMethod::reject || rule->method == AuthMethod::peer) {
    return refuse(
        403, state::invalid_authorization,
        fmt::format("{} for host \"{}\", user \"{}\", database \"{}\", no encryption",
                    rule == nullptr ? "no pg_hba.conf entry" : "pg_hba.conf rejects connection",
                    visitor.address ? visitor.address->text() : "", user, database));
  }
  if (rule->method == AuthMethod::trust) return std::nullopt;
  const std::string origin = login_origin(request.peer, std::nullopt);
  const LoginAttempt attempt{user, origin};
  const TimePoint now = Runtime::current().now();
  if (context_.limiter().ask(attempt, now) != Duration::zero()) {
    return failure(429, "Too many failed logins: try again in a moment.", "53300");
  }
  const auto stored = context_.database().password_verifier(user);
  const auto known = stored ? ScramVerifier::from_text(*stored) : std::nullopt;
  // The same work for every role, so that the time does not reveal which roles exist.
  const ScramVerifier verifier = known ? *known : ScramVerifier::pretend(user, context_.secret());
  const ScramVerifier given = ScramVerifier::derive(password, verifier.salt, verifier.iterations);
  if (known && equal_in_constant_time(given.stored_key, verifier.stored_key)) {
    context_.limiter().note_success(attempt, now);
    return std::nullopt;
  }
  context_.limiter().note_failure(attempt, now);
  return refuse(401, state::invalid_password,
                fmt::format("password authentication failed for user \"{}\"", user));
}

HttpResponse Console::log_in(const HttpRequest& request) {
  if (const auto why_not = refusal(request)) return failure(403, *why_not);
  const auto user = form_value(request.body, "user");
  const auto password = form_value(request.body, "password");
  const std::string database = form_value(request.body, "database").value_or("postgres");
  if (!user || !password || user->empty()) return failure(400, "user and password are missing");
  if (auto why_not = prove(request, *user, database, *password)) return std::move(*why_not);
  if (logins_.size() >= kMostLogins) {
    // The least recently used login is replaced.
    logins_.erase(std::ranges::min_element(logins_, {}, &Login::last_use));
  }
  Login& login = logins_.emplace_back();
  login.token = fresh_token();
  login.user = *user;
  login.verifier = context_.database().password_verifier(*user).value_or("");
  login.database = database;
  if (request.peer) login.client = sql::Endpoint{request.peer->text(), request.peer_port};
  login.last_use = Runtime::current().now();
  const auto session = session_of(login);
  if (!session) {
    logins_.pop_back();
    return session.error();
  }
  login.sees_all =
      is_true((*session)->value_of("SELECT pg_catalog.pg_has_role('pg_read_all_stats', 'usage')"));
  std::string body{"{"};
  append_member(body, "token", login.token);
  append_member(body, "user", login.user);
  append_member(body, "database", login.database);
  body += fmt::format(R"(,"sees_all":{}}})", login.sees_all);
  if ((*session)->has_setting_on("log_connections")) {
    context_.log().write({.severity = "LOG",
                          .message = fmt::format("console: connection authorized: user={} "
                                                 "database={}",
                                                 login.user, login.database)},
                         nullptr);
  }
  return {.content_type = kJson, .body = std::move(body)};
}

HttpResponse Console::log_out(const HttpRequest& request) {
  if (const Login* const login = find(request)) {
    logins_.remove_if([&](const Login& one) { return &one == login; });
    note_sessions();
  }
  return {.content_type = kJson, .body = "{}"};
}

HttpResponse Console::cancel(const HttpRequest& request) {
  Login* const login = find(request);
  if (login == nullptr) return failure(401, "log in first");
  const std::string text = form_value(request.body, "pid").value_or("");
  std::int32_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0) {
    return failure(400, "pid is not a number");
  }
  const auto session = session_of(*login);
  if (!session) return session.error();
  // PostgreSQL's function checks the right: the same role, or pg_signal_backend.
  auto done = (*session)->ask(fmt::format("SELECT pg_catalog.pg_cancel_backend({})", pid));
  if (!done) return failure(done.error());
  context_.log().write({.severity = "LOG",
                        .message = fmt::format("console: user {} canceled the statement of backend "
                                               "{}",
                                               login->user, pid)},
                       nullptr);
  return {.content_type = kJson, .body = std::move(*done)};
}

HttpResponse Console::answer_question(const Question& question, const HttpRequest& request) {
  Login* const login = find(request);
  if (login == nullptr) return failure(401, "log in first");
  if (const auto database = form_value(request.query, "database");
      database && *database != login->database) {
    // Rules may differ by database.
    const Visitor visitor{Transport::tcp, request.peer, *database, login->user};
    const auto policy = context_.policy();
    const HbaRule* const rule = policy->rules.find(visitor);
    if (rule == nullptr ||
        (rule->method != AuthMethod::trust && rule->method != AuthMethod::scram_sha_256)) {
      return failure(403, "the rules refuse this database");
    }
    login->session.reset();
    login->answers.clear();
    login->database = *database;
  }
  const TimePoint now = Runtime::current().now();
  if (const auto found = login->answers.find(question.path);
      found != login->answers.end() && now < found->second.made + question.fresh) {
    return {.content_type = kJson, .body = found->second.body};
  }
  std::string body{"{"};
  for (const QuestionPart& part : question.parts) {
    const auto session = session_of(*login);
    if (!session) return session.error();
    fmt::format_to(std::back_inserter(body), "{}\"{}\":", body.size() > 1 ? "," : "", part.name);
    auto rows = (*session)->ask(part.statement);
    // A refused part does not hide the others.
    body += rows ? *rows : failure(rows.error()).body;
  }
  body += '}';
  login->answers[std::string{question.path}] = {now, body};
  return {.content_type = kJson, .body = std::move(body)};
}

HttpResponse Console::show_troubles(Login& login) const {
  constexpr std::int64_t kHourUs = 3'600'000'000;
  const std::int64_t now_us = Runtime::current().wall_clock_us();
  std::string body = fmt::format(R"({{"now_us":{},"errors":[)", now_us);
  bool is_first = true;
  for (const Trouble& trouble : context_.log().troubles_since(now_us - kHourUs)) {
    // As in pg_stat_activity: a user sees its own.
    if (!login.sees_all && trouble.user != login.user) continue;
    body += std::exchange(is_first, false) ? "{" : ",{";
    append_member(body, "severity", trouble.severity);
    append_member(body, "sqlstate", trouble.sqlstate);
    append_member(body, "message", trouble.message);
    append_member(body, "detail", trouble.detail);
    append_member(body, "statement", trouble.statement);
    append_member(body, "user", trouble.user);
    append_member(body, "database", trouble.database);
    append_member(body, "application", trouble.application);
    body += fmt::format(R"(,"pid":{},"at_us":{}}})", trouble.backend_pid, trouble.at_us);
  }
  body += "]}";
  return {.content_type = kJson, .body = std::move(body)};
}

Console::Login* Console::find(const HttpRequest& request) {
  if (!request.authorization.starts_with(kBearer)) return nullptr;
  const std::string_view token = std::string_view{request.authorization}.substr(kBearer.size());
  for (Login& login : logins_) {
    if (!equal_in_constant_time(as_bytes(login.token), as_bytes(token))) continue;
    login.last_use = Runtime::current().now();
    return &login;
  }
  return nullptr;
}

std::expected<ConsoleSession*, HttpResponse> Console::session_of(Login& login) {
  if (login.session && !login.session->is_ending()) return login.session.get();
  login.session.reset();
  // A role that was dropped, or has another password, must log in again.
  if (is_closed_ ||
      context_.database().password_verifier(login.user).value_or("") != login.verifier) {
    return std::unexpected{failure(401, "log in again")};
  }
  auto session = ConsoleSession::open(context_, login.user, login.database, login.client, on_end_);
  if (!session) {
    note_sessions();
    return std::unexpected{failure(session.error())};
  }
  login.session = std::move(*session);
  note_sessions();
  return login.session.get();
}

void Console::close_unused() {
  forget_unused(Runtime::current().now());
}

void Console::close_all() {
  is_closed_ = true;
  logins_.clear();
  note_sessions();
}

void Console::forget_unused(TimePoint now) {
  std::erase_if(logins_, [&](const Login& login) { return now > login.last_use + kLoginLasts; });
  for (Login& login : logins_) {
    if (!login.session) continue;
    if (login.session->is_ending() || now > login.last_use + kSessionStays) login.session.reset();
  }
  note_sessions();
}

void Console::note_sessions() noexcept {
  const bool any =
      std::ranges::any_of(logins_, [](const Login& one) { return one.session != nullptr; });
  has_sessions_.store(any, std::memory_order_relaxed);
}

}  // namespace swizzle::server
