#pragma once

#include "server/observability/session_journal.h"
#include "server/session/channel.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

/// Encodes a session's results as messages. Waits for a slow client (back-pressure). Once the
/// client has disconnected, discards everything and cancels the session.
class WireSink final : public sql::ResultSink {
 public:
  WireSink(Channel& channel, SessionJournal& journal) noexcept
      : channel_(channel), journal_(journal) {}
  /// Sets the session to cancel. Call before the first request.
  void attach(sql::Session& session) noexcept { session_ = &session; }

  void parameter_description(std::span<const std::uint32_t> type_oids) override;
  void row_description(std::span<const sql::OutputColumn> columns) override;
  void no_data() override;
  void data_row(const sql::OutputRow& row) override;
  void command_complete(std::string_view tag) override;
  void empty_query() override;
  void portal_suspended() override;
  void notice(const sql::Diagnostic& diagnostic) override;
  void parameter_status(std::string_view name, std::string_view value) override;
  void notification(std::int32_t sender, std::string_view channel,
                    std::string_view payload) override;
  void copy_in_begin(const sql::CopyDescription& description) override;
  std::expected<std::optional<Bytes>, sql::Diagnostic> copy_in_data() override;
  void copy_out_begin(const sql::CopyDescription& description) override;
  void copy_out_data(Bytes data) override;
  void copy_out_end() override;

  /// Returns the send buffer, which puts strings in the client's present encoding.
  SendBuffer& text_out() noexcept;

  /// Returns true if a statement since the last call may have changed a setting.
  bool take_settings_changed() noexcept { return std::exchange(settings_changed_, false); }
  /// Set once the conversation cannot go on: the peer left in the middle of a COPY, or violated the
  /// protocol there.
  [[nodiscard]] const std::optional<Stop>& stop() const noexcept { return stop_; }

 private:
  void flush_if_large();

  Channel& channel_;
  SessionJournal& journal_;
  sql::Session* session_ = nullptr;
  std::optional<Stop> stop_;
  bool settings_changed_ = false;
  /// True if a setting was changed since the last end of a transaction, whose rollback may change
  /// it back.
  bool may_go_back_ = false;
};

}  // namespace swizzle::server
