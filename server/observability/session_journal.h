#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/runtime/runtime.h"
#include "server/observability/server_log.h"
#include "server/observability/statement_metrics.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {
class Session;
class SessionUsage;
}  // namespace swizzle::sql

namespace swizzle::server {

/// Records a session's statements: counts, latencies, and lines in the log. Belongs to the
/// session's fiber. A statement lasts from the message that begins it to the one that begins the
/// next, or to ReadyForQuery: so the wait for a durable commit counts, after COMMIT as after Sync.
class SessionJournal {
 public:
  /// Pre: on the thread that the session stays on; `metrics`, `log` and `usage` outlive it.
  SessionJournal(StatementMetrics& metrics, ServerLog& log, sql::SessionUsage& usage,
                 LogSubject subject);
  SessionJournal(const SessionJournal&) = delete;
  SessionJournal& operator=(const SessionJournal&) = delete;
  ~SessionJournal() = default;

  /// Reads log_min_duration_statement and related settings.
  void read_settings(const sql::Session& session);
  /// True if the configuration has been read again since.
  [[nodiscard]] bool is_outdated() const noexcept { return log_.revision() != log_revision_; }

  /// Log the login, and the end of the connection.
  void note_connection();
  void note_disconnection();

  /// A message of a request has arrived.
  void begin();
  /// `text` is about to run. `statement` is the prepared statement's name, by the extended
  /// protocol.
  void running(sql::Session& session, std::string_view text,
               std::optional<std::string_view> statement);
  /// A statement has completed, except for its commit.
  void completed(std::string_view tag);
  void failed(const sql::Diagnostic& error, std::string_view text);
  /// ReadyForQuery is next: all changes are durable, and the session waits for its client.
  void end(bool in_transaction);

  /// The session, with `text`, kept its reactor busy for so long.
  void stalled(Duration turn, std::string_view text);

  /// True if the log needs the text of statements.
  [[nodiscard]] bool wants_text() const noexcept { return wants_text_; }
  /// Text of the current or last statement; of the whole message by the simple protocol.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Text of the failed statement: by the simple protocol the one after the completed ones.
  [[nodiscard]] std::string_view failed_text() const;

 private:
  enum class LogStatement : std::uint8_t { none, ddl, mod, all };

  void finish_pending(TimePoint now);
  void keep(std::string_view text);
  void log_duration(Duration took);
  [[nodiscard]] bool is_logged_by_class(std::string_view text, sql::Session& session) const;

  StatementMetrics::Share& share_;
  ServerLog& log_;
  sql::SessionUsage& usage_;
  LogSubject subject_;
  std::uint64_t log_revision_ = 0;

  std::optional<TimePoint> started_;
  std::optional<StatementKind> pending_;
  TimePoint completed_at_{};
  bool may_be_several_ = false;
  std::size_t completed_ = 0;  ///< statements of the message
  std::string tag_;
  std::string text_;
  std::optional<std::string> statement_;
  bool text_is_logged_ = false;

  bool wants_text_ = false;
  LogStatement log_statement_ = LogStatement::none;
  std::optional<Duration> slow_;  ///< log_min_duration_statement
  bool log_duration_ = false;
  LogLevel errors_from_ = LogLevel::warning;           ///< log_min_messages
  LogLevel failed_statements_from_ = LogLevel::error;  ///< log_min_error_statement
  bool log_connections_ = false;
  bool log_disconnections_ = false;
};

}  // namespace swizzle::server
