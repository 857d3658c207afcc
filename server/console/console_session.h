#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/session/interrupts.h"
#include "server/session/server_context.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

/// A session of a console's user: one of the server's connections, but without a socket. Read-only,
/// for a bounded time, with pg_catalog alone in its search path, so that no function of another
/// user runs with its rights. Belongs to one thread at a time.
class ConsoleSession {
 public:
  static constexpr Duration kLongestStatement = std::chrono::seconds{2};

  /// Pre: the user is authenticated. `on_end` is called, from any thread, when the session must
  /// end; it neither waits nor calls back.
  static std::expected<std::unique_ptr<ConsoleSession>, sql::Diagnostic> open(
      ServerContext& context, const std::string& user, const std::string& database,
      const std::optional<sql::Endpoint>& client, std::function<void()> on_end);
  ConsoleSession(const ConsoleSession&) = delete;
  ConsoleSession& operator=(const ConsoleSession&) = delete;
  ~ConsoleSession();

  /// Runs a statement; returns its rows as JsonSink writes them.
  std::expected<std::string, sql::Diagnostic> ask(std::string_view statement);
  /// Returns the first value of a statement's first row, or nothing.
  std::optional<std::string> value_of(std::string_view statement);
  [[nodiscard]] bool has_setting_on(std::string_view name) const;
  /// True once the session was asked to end.
  [[nodiscard]] bool is_ending() const noexcept {
    return interrupts_.end_reason() != EndReason::none;
  }
  [[nodiscard]] std::uint32_t pid() const noexcept { return place_->id(); }

 private:
  explicit ConsoleSession(ServerContext& context);
  std::expected<void, sql::Diagnostic> run(std::string_view statement, sql::ResultSink& sink);

  ServerContext& context_;
  Interrupts interrupts_;
  std::optional<SessionRegistry::Place> place_;
  std::unique_ptr<sql::Session> session_;
};

}  // namespace swizzle::server
