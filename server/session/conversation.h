#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/observability/session_journal.h"
#include "server/protocol/frontend_messages.h"
#include "server/session/change_feed.h"
#include "server/session/channel.h"
#include "server/session/statement_timer.h"
#include "server/session/wire_sink.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::server {

/// A connection after login: reads messages and sends answers until one side ends it. States:
class Conversation final : private StallListener {
 public:
  Conversation(Channel& channel, sql::Session& session, Interrupts& interrupts,
               StatementTimer& timer, SessionJournal& journal);
  /// Allows commands of the replication protocol.
  void allow_replication(sql::ReplicationCommands::For whom, CopyServer copy_server);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() override = default;

  /// Sends the reported settings, the cancel key and the first ReadyForQuery.
  void greet(std::uint32_t backend_id, Bytes cancel_key);
  /// Returns when the connection is to be closed; the last messages are in the send buffer.
  void run();

 private:
  void stalled(Duration turn) noexcept override;
  std::optional<Frame> next_frame();
  void dispatch(const Frame& frame);
  void on_query(Bytes payload);
  void on_sync();
  void on_function_call(Bytes payload);
  sql::Outcome call_function(Bytes payload);
  /// Runs a command of the replication protocol.
  void on_command(std::string_view text);

  /// Runs `handler` unless messages are skipped; its error starts the skipping.
  template <class Handler>
  void extended(Handler&& handler);
  sql::Outcome refuse_extended();
  /// Returns what converts the texts of the next message; null if they are UTF-8.
  ClientText* client_text();
  sql::Outcome parse(Bytes payload);
  sql::Outcome bind(Bytes payload);
  sql::Outcome describe(Bytes payload);
  sql::Outcome execute(Bytes payload);
  sql::Outcome close(Bytes payload);
  /// Reports an error that did not come from the session, and fails its transaction.
  sql::Diagnostic reject(const Error& error);

  void report(const sql::Diagnostic& diagnostic);
  /// Reports an error of a statement to the client and the log.
  void report_failure(const sql::Diagnostic& diagnostic, std::string_view text);
  void ready_for_query();
  void begin_statement();
  void watch_statement();
  /// True if the transaction has lasted for transaction_timeout.
  [[nodiscard]] bool is_transaction_over() const;
  void note_stop(const Stop& stop);
  void note_end(sql::SessionEnd how) noexcept;
  void deliver_notifications();
  void read_settings();
  [[nodiscard]] Duration setting_ms(std::string_view name) const;
  [[nodiscard]] Duration idle_timeout() const;

  Channel& channel_;
  sql::Session& session_;
  Interrupts& interrupts_;
  SessionJournal& journal_;
  WireSink sink_;
  StatementTimer::Watch watch_;
  ListDecoder decoder_;
  ClientText client_text_;
  /// Set in sessions opened for replication.
  std::unique_ptr<sql::ReplicationCommands> replication_;
  CopyServer copy_server_;
  /// Statement of the last Bind, for the log.
  std::string bound_statement_;

  Duration statement_timeout_{};
  Duration idle_in_transaction_timeout_{};
  Duration idle_session_timeout_{};
  Duration transaction_timeout_{};
  /// When transaction_timeout ends the session; empty outside of transactions.
  std::optional<TimePoint> transaction_end_;
  /// Text of the statement that has just failed, until its error is reported.
  std::string_view failed_text_;
  bool skipping_ = false;
  bool is_running_ = true;
};

}  // namespace swizzle::server
