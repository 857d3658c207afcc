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

/// The part of a connection after login: messages in, answers out, until one side ends it. The
/// state machine:
///
///   simple     Query → results → ReadyForQuery, sent
///   extended   Parse, Bind, Describe, Execute, Close → answers, kept until Flush or Sync
///   skipping   after an error in an extended message: everything is dropped until Sync
///   copying    inside WireSink, while a statement asks for data
class Conversation final : private StallListener {
 public:
  Conversation(Channel& channel, sql::Session& session, Interrupts& interrupts,
               StatementTimer& timer, SessionJournal& journal);
  /// The session may be told of changes.
  void allow_replication(sql::ReplicationCommands::For whom, CopyServer copy_server);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() override = default;

  /// Reported settings, then the first ReadyForQuery. The cancel key goes between them.
  void greet(std::uint32_t backend_id, Bytes cancel_key);
  /// Returns when the connection is to be closed; the last words are in the send buffer.
  void run();

 private:
  void stalled(Duration turn) noexcept override;
  std::optional<Frame> next_frame();
  void dispatch(const Frame& frame);
  void on_query(Bytes payload);
  void on_sync();
  void on_function_call();
  /// A command of the replication protocol.
  void on_command(std::string_view text);

  /// Runs `handler` unless messages are skipped; its error starts the skipping.
  template <class Handler>
  void extended(Handler&& handler);
  sql::Outcome refuse_extended();
  sql::Outcome parse(Bytes payload);
  sql::Outcome bind(Bytes payload);
  sql::Outcome describe(Bytes payload);
  sql::Outcome execute(Bytes payload);
  sql::Outcome close(Bytes payload);
  /// For an error that the session has not seen: its transaction must know.
  sql::Diagnostic reject(const Error& error);

  void report(const sql::Diagnostic& diagnostic);
  /// The same, for the error of a statement: the log hears of it.
  void report_failure(const sql::Diagnostic& diagnostic, std::string_view text);
  void ready_for_query();
  void begin_statement();
  void note_stop(const Stop& stop);
  void note_end(sql::SessionEnd how) noexcept;
  void tell_news();
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
  /// Of a session that was opened for replication.
  std::unique_ptr<sql::ReplicationCommands> replication_;
  CopyServer copy_server_;
  /// Of the last Bind, where the log may want to name it.
  std::string bound_statement_;

  Duration statement_timeout_{};
  Duration idle_in_transaction_timeout_{};
  Duration idle_session_timeout_{};
  /// Of a statement that just failed; until its error is reported.
  std::string_view failed_text_;
  bool skipping_ = false;
  bool is_running_ = true;
};

}  // namespace swizzle::server
