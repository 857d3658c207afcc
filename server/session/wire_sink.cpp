#include "server/session/wire_sink.h"

#include <fmt/format.h>

#include "server/protocol/backend_messages.h"
#include "server/protocol/frontend_messages.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::server {
namespace {

bool sets_something(std::string_view tag) noexcept {
  return tag == "SET" || tag == "RESET" || tag.starts_with("DISCARD") || tag.starts_with("ALTER");
}
bool ends_transaction(std::string_view tag) noexcept {
  return tag == "COMMIT" || tag == "ROLLBACK";
}

/// Throws 22P05 if the client's encoding lacks a character of a column's name.
void require_names(const EncodingTable& client, std::span<const sql::OutputColumn> columns) {
  std::string encoded;
  for (const sql::OutputColumn& column : columns) {
    if (auto done = client.encode(column.name, encoded); !done)
      throw sql::SqlError{std::move(done).error()};
  }
}

}  // namespace

void WireSink::flush_if_large() {
  channel_.flush_if_full();
  if (channel_.is_broken()) session_->cancel();
}

SendBuffer& WireSink::text_out() noexcept {
  SendBuffer& out = channel_.out();
  out.set_client_encoding(session_->client_encoding());
  return out;
}

void WireSink::parameter_description(std::span<const std::uint32_t> type_oids) {
  put_parameter_description(channel_.out(), type_oids);
}

void WireSink::row_description(std::span<const sql::OutputColumn> columns) {
  SendBuffer& out = text_out();
  if (out.client_encoding() != nullptr) [[unlikely]]
    require_names(*out.client_encoding(), columns);
  put_row_description(out, columns);
}

void WireSink::no_data() {
  channel_.out().put_empty(BackendKind::no_data);
}

void WireSink::data_row(const sql::OutputRow& row) {
  put_data_row(channel_.out(), row);
  if (channel_.out().size() >= Channel::kSendBytes) flush_if_large();
}

void WireSink::command_complete(std::string_view tag) {
  put_command_complete(channel_.out(), tag);
  journal_.completed(tag);
  if (sets_something(tag)) {
    settings_changed_ = may_go_back_ = true;
  } else if (may_go_back_ && ends_transaction(tag)) {
    // SET LOCAL ends with the transaction, SET with a transaction that is rolled back.
    settings_changed_ = true;
    may_go_back_ = false;
  }
}

void WireSink::empty_query() {
  channel_.out().put_empty(BackendKind::empty_query_response);
}

void WireSink::portal_suspended() {
  channel_.out().put_empty(BackendKind::portal_suspended);
}

void WireSink::notice(const sql::Diagnostic& diagnostic) {
  put_report(text_out(), BackendKind::notice_response, diagnostic);
  flush_if_large();
}

void WireSink::parameter_status(std::string_view name, std::string_view value) {
  put_parameter_status(text_out(), name, value);
}

void WireSink::notification(std::int32_t sender, std::string_view channel,
                            std::string_view payload) {
  put_notification(text_out(), sender, channel, payload);
  flush_if_large();
}

void WireSink::copy_in_begin(const sql::CopyDescription& description) {
  put_copy_response(channel_.out(), BackendKind::copy_in_response, description);
  channel_.flush();
}

std::expected<std::optional<Bytes>, sql::Diagnostic> WireSink::copy_in_data() {
  for (;;) {
    auto frame = channel_.next_frame(std::nullopt, WakeOn::cancel);
    if (!frame) {
      Stop& stop = frame.error();
      if (stop.kind == Stop::Kind::cancel_requested) {
        return std::unexpected{
            error_report(sqlstate::query_canceled, "canceling statement due to user request")};
      }
      stop_ = std::move(stop);
      return std::unexpected{
          error_report(state::connection_failure, "the connection ended in the middle of a COPY")};
    }
    switch (frame->kind) {
      case FrontendKind::copy_data:
        return frame->payload;
      case FrontendKind::copy_done:
        return std::nullopt;
      case FrontendKind::copy_fail: {
        ClientText text{session_->memory()};
        const EncodingTable* const client = session_->client_encoding();
        if (client != nullptr) text.begin(*client);
        const auto message = decode_copy_fail(frame->payload, client != nullptr ? &text : nullptr);
        return std::unexpected{
            error_report(sqlstate::query_canceled,
                         fmt::format("COPY from stdin failed: {}",
                                     message ? message->reason : "unreadable reason"))};
      }
      case FrontendKind::flush:
      case FrontendKind::sync:
        continue;  // as PostgreSQL does, for libraries that send them here
      default:
        // A client that sends this does not know that it is in a COPY: the following bytes cannot
        // be trusted.
        stop_ = Stop{Stop::Kind::protocol_violation,
                     Error{state::protocol_violation,
                           fmt::format("unexpected message type 0x{:02X} during COPY from stdin",
                                       static_cast<unsigned char>(frame->kind))}};
        return std::unexpected{report_of(sql::Severity::error, *stop_->error)};
    }
  }
}

void WireSink::copy_out_begin(const sql::CopyDescription& description) {
  put_copy_response(channel_.out(), BackendKind::copy_out_response, description);
}

void WireSink::copy_out_data(Bytes data) {
  put_copy_data(channel_.out(), data);
  if (channel_.out().size() >= Channel::kSendBytes) flush_if_large();
}

void WireSink::copy_out_end() {
  channel_.out().put_empty(BackendKind::copy_done);
}

}  // namespace swizzle::server
