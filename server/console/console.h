#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/console/console_session.h"
#include "server/observability/http_server.h"
#include "server/session/server_context.h"

namespace swizzle::server {

struct Question;

/// Answers the requests of the console's page that need a login. A login is a random token that the
/// page sends with each request; there are no cookies, so no other site's page can use a user's
/// rights. An answer shows what the user's own session may see.
class Console {
 public:
  static constexpr std::size_t kMostLogins = 8;
  /// Time that a login lasts without a request.
  static constexpr Duration kLoginLasts = std::chrono::minutes{30};
  /// Time that the session of a login stays open without a request.
  static constexpr Duration kSessionStays = std::chrono::seconds{60};

  /// `on_end` is called, from any thread, when a session is to end: close_unused() is due then.
  Console(ServerContext& context, std::function<void()> on_end);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  /// Answers a request. One call at a time, as for close_unused() and close_all().
  HttpResponse answer(const HttpRequest& request);
  /// Closes sessions that must end, or that have been unused for a while.
  void close_unused();
  /// Forgets all logins and refuses new ones.
  void close_all();
  /// True while a login has a session. From any thread.
  [[nodiscard]] bool has_sessions() const noexcept {
    return has_sessions_.load(std::memory_order_relaxed);
  }

 private:
  struct Cached {
    TimePoint made;
    std::string body;
  };
  struct Login {
    std::string token;
    std::string user;
    std::string verifier;  ///< the password's, when it was proved
    std::string database;
    std::optional<sql::Endpoint> client;
    bool sees_all = false;
    TimePoint last_use{};
    std::unique_ptr<ConsoleSession> session;
    std::map<std::string, Cached, std::less<>> answers;
  };

  HttpResponse log_in(const HttpRequest& request);
  HttpResponse log_out(const HttpRequest& request);
  HttpResponse cancel(const HttpRequest& request);
  HttpResponse answer_question(const Question& question, const HttpRequest& request);
  HttpResponse show_troubles(Login& login) const;
  /// Returns the reason why the client may not log in from its address, if there is one.
  [[nodiscard]] std::optional<std::string> refusal(const HttpRequest& request) const;
  /// Checks the password; returns a response if it is refused.
  std::optional<HttpResponse> prove(const HttpRequest& request, const std::string& user,
                                    const std::string& database, const std::string& password);
  void note_refusal(const HttpRequest& request, const std::string& user,
                    const std::string& database, std::string_view message, SqlState state);

  /// Returns the login of the request's token, or null.
  Login* find(const HttpRequest& request);
  /// Returns the login's session, opened again if it was closed; or a response with the reason.
  std::expected<ConsoleSession*, HttpResponse> session_of(Login& login);
  /// Closes logins and sessions that are unused for too long at `now`.
  void forget_unused(TimePoint now);
  void note_sessions() noexcept;

  ServerContext& context_;
  std::function<void()> on_end_;
  std::list<Login> logins_;
  bool is_closed_ = false;
  std::atomic<bool> has_sessions_{false};
};

}  // namespace swizzle::server
