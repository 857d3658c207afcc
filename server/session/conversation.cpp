#include "server/session/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

#include "server/protocol/backend_messages.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/login_triggers.h"

namespace swizzle::server {

Conversation::Conversation(Channel& channel, sql::Session& session, Interrupts& interrupts,
                           StatementTimer& timer, SessionJournal& journal)
    : channel_(channel),
      session_(session),
      interrupts_(interrupts),
      journal_(journal),
      sink_(channel, journal),
      watch_(timer, session),
      client_text_(session.memory()) {
  sink_.attach(session);
  read_settings();
}

void Conversation::allow_replication(sql::ReplicationCommands::For whom, CopyServer copy_server) {
  replication_ = std::make_unique<sql::ReplicationCommands>(session_, whom);
  copy_server_ = std::move(copy_server);
}

void Conversation::greet(std::uint32_t backend_id, Bytes cancel_key) {
  for (const auto& [name, value] : session_.reported_settings()) {
    put_parameter_status(sink_.text_out(), name, value);
  }
  put_backend_key_data(channel_.out(), backend_id, cancel_key);
  session_.send_first_notices(sink_);
  if (sql::Outcome begun = sql::run_login_triggers(session_, sink_); !begun) {
    begun.error().severity = sql::Severity::fatal;
    return report_failure(begun.error(), {});
  }
  ready_for_query();
}

void Conversation::run() {
  const StallScope scope{*this};
  while (is_running_ && !channel_.is_broken()) {
    if (const auto frame = next_frame()) {
      dispatch(*frame);
      client_text_.clear();
    }
  }
  if (channel_.is_broken()) note_end(sql::SessionEnd::abandoned);
}

void Conversation::note_end(sql::SessionEnd how) noexcept {
  // Only the first reason for the end is recorded.
  sql::SessionUsage& usage = sql::usage_of(session_);
  if (usage.end() == sql::SessionEnd::by_client) usage.note_end(how);
}

void Conversation::stalled(Duration turn) noexcept {
  try {
    journal_.stalled(turn, session_.current_query());
  } catch (const std::bad_alloc&) {
    // No memory for the log's line; the reactor has counted the stall.
  }
}

std::optional<Frame> Conversation::next_frame() {
  const Duration timeout = idle_timeout();
  std::optional<TimePoint> deadline;
  if (timeout > Duration::zero()) deadline = Runtime::current().now() + timeout;
  if (transaction_end_ && (!deadline || *transaction_end_ < *deadline)) deadline = transaction_end_;
  while (is_running_) {
    auto frame = channel_.next_frame(deadline, WakeOn::news);
    if (frame) return *frame;
    if (frame.error().kind == Stop::Kind::news) {
      deliver_notifications();
    } else {
      note_stop(frame.error());
    }
  }
  return std::nullopt;
}

void Conversation::deliver_notifications() {
  interrupts_.take_news();
  session_.send_notifications(sink_);
  channel_.flush();
  if (channel_.is_broken()) is_running_ = false;
}

void Conversation::note_stop(const Stop& stop) {
  is_running_ = false;
  switch (stop.kind) {
    case Stop::Kind::peer_gone:
      note_end(sql::SessionEnd::abandoned);
      return;
    case Stop::Kind::cancel_requested:
    case Stop::Kind::news:
    case Stop::Kind::log:
      return;
    case Stop::Kind::end_requested:
      report_failure(
          session_.termination().value_or(fatal_report(
              sqlstate::admin_shutdown, "terminating connection due to administrator command")),
          {});
      return;
    case Stop::Kind::timed_out:
      if (is_transaction_over()) return report_failure(transaction_timeout_report(), {});
      if (session_.transaction_status() == sql::TransactionStatus::idle) {
        report_failure(fatal_report(state::idle_session_timeout,
                                    "terminating connection due to idle-session timeout"),
                       {});
      } else {
        report_failure(fatal_report(state::idle_in_transaction_timeout,
                                    "terminating connection due to idle-in-transaction timeout"),
                       {});
      }
      return;
    case Stop::Kind::protocol_violation:
      report_failure(report_of(sql::Severity::fatal, *stop.error), {});
      return;
  }
}

void Conversation::dispatch(const Frame& frame) {
  switch (frame.kind) {
    case FrontendKind::query:
      if (!skipping_) on_query(frame.payload);
      return;
    case FrontendKind::parse:
      return extended([&] { return parse(frame.payload); });
    case FrontendKind::bind:
      return extended([&] { return bind(frame.payload); });
    case FrontendKind::describe:
      return extended([&] { return describe(frame.payload); });
    case FrontendKind::execute:
      return extended([&] { return execute(frame.payload); });
    case FrontendKind::close:
      return extended([&] { return close(frame.payload); });
    case FrontendKind::flush:
      if (!skipping_) channel_.flush();
      return;
    case FrontendKind::sync:
      return on_sync();
    case FrontendKind::function_call:
      if (!skipping_) on_function_call(frame.payload);
      return;
    case FrontendKind::copy_data:
    case FrontendKind::copy_done:
    case FrontendKind::copy_fail:
      // Left over from a COPY that failed before the client was told.
      return;
    case FrontendKind::terminate:
      is_running_ = false;
      return;
    case FrontendKind::password:
      is_running_ = false;
      report(fatal_report(state::protocol_violation, "unexpected password message"));
      return;
  }
}

ClientText* Conversation::client_text() {
  const EncodingTable* const encoding = session_.client_encoding();
  if (encoding == nullptr) [[likely]]
    return nullptr;
  client_text_.begin(*encoding);
  return &client_text_;
}

void Conversation::begin_statement() {
  interrupts_.forget_cancel();
  if (journal_.is_outdated()) read_settings();
  journal_.begin();
  watch_statement();
}

/// The shorter of the two time limits counts.
void Conversation::watch_statement() {
  using Ends = StatementTimer::Watch::Ends;
  if (transaction_timeout_ <= Duration::zero()) {
    if (statement_timeout_ > Duration::zero()) watch_.start(statement_timeout_, Ends::statement);
    return;
  }
  const TimePoint now = Runtime::current().now();
  if (!transaction_end_) transaction_end_ = now + transaction_timeout_;
  const Duration left = std::max(*transaction_end_ - now, Duration{1});
  const bool is_statement_shorter =
      statement_timeout_ > Duration::zero() && statement_timeout_ < left;
  watch_.start(is_statement_shorter ? statement_timeout_ : left,
               is_statement_shorter ? Ends::statement : Ends::session);
}

bool Conversation::is_transaction_over() const {
  return transaction_end_ && *transaction_end_ <= Runtime::current().now();
}

void Conversation::on_query(Bytes payload) {
  begin_statement();
  if (const auto message = decode_query(payload, client_text())) {
    journal_.running(session_, message->text, std::nullopt);
    if (replication_) {
      replication_->end_export();
      if (replication_->takes(message->text)) return on_command(message->text);
    }
    const sql::Outcome outcome = session_.simple_query(message->text, sink_);
    // The message's memory may already be reused for COPY's data.
    if (!outcome) report_failure(outcome.error(), journal_.failed_text());
    ready_for_query();
  } else {
    report(reject(message.error()));
    on_sync();
  }
}

void Conversation::on_command(std::string_view text) {
  // No statement timeout: a session follows the log for as long as the client likes.
  watch_.stop();
  // Copy the command: the buffer is reused while changes are sent.
  const std::string command{text};
  ChangeFeed feed{channel_, interrupts_, copy_server_};
  const sql::Outcome outcome = replication_->run(command, sink_, feed);
  if (feed.stop()) return note_stop(*feed.stop());
  if (!outcome) report_failure(outcome.error(), command);
  ready_for_query();
}

template <class Handler>
void Conversation::extended(Handler&& handler) {
  if (skipping_) return;
  begin_statement();
  const sql::Outcome outcome = replication_ ? refuse_extended() : handler();
  if (!outcome) {
    skipping_ = true;
    report_failure(outcome.error(), failed_text_);
    failed_text_ = {};
    // Flush: the client may wait for answers up to a Flush, which is being skipped.
    channel_.flush();
  }
  channel_.flush_if_full();
}

sql::Outcome Conversation::refuse_extended() {
  return std::unexpected{
      reject(Error{state::protocol_violation,
                   "extended query protocol not supported in a replication connection"})};
}

sql::Outcome Conversation::parse(Bytes payload) {
  const auto message = decoder_.decode_parse(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  auto outcome = session_.parse(message->statement, message->text, message->parameter_types, sink_);
  if (!outcome) failed_text_ = message->text;
  if (outcome) channel_.out().put_empty(BackendKind::parse_complete);
  return outcome;
}

sql::Outcome Conversation::bind(Bytes payload) {
  const auto message = decoder_.decode_bind(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  auto outcome = session_.bind({.portal = message->portal,
                                .statement = message->statement,
                                .formats = message->parameter_formats,
                                .values = message->parameters,
                                .result_formats = message->result_formats},
                               sink_);
  if (outcome) channel_.out().put_empty(BackendKind::bind_complete);
  if (journal_.wants_text()) bound_statement_.assign(message->statement);
  if (message->parameters.size() > ListDecoder::kUsualParameters) decoder_.shrink();
  return outcome;
}

sql::Outcome Conversation::describe(Bytes payload) {
  const auto message = decode_describe(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  return message->target == DescribeTarget::statement
             ? session_.describe_statement(message->name, sink_)
             : session_.describe_portal(message->name, sink_);
}

sql::Outcome Conversation::execute(Bytes payload) {
  const auto message = decode_execute(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  journal_.running(session_, session_.portal_text(message->portal), bound_statement_);
  auto outcome = session_.execute(message->portal, message->row_limit, sink_);
  if (!outcome) failed_text_ = journal_.text();
  watch_.stop();
  return outcome;
}

sql::Outcome Conversation::close(Bytes payload) {
  const auto message = decode_close(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  auto outcome = message->target == DescribeTarget::statement
                     ? session_.close_statement(message->name)
                     : session_.close_portal(message->name);
  if (outcome) channel_.out().put_empty(BackendKind::close_complete);
  return outcome;
}

void Conversation::on_sync() {
  skipping_ = false;
  if (const sql::Outcome outcome = session_.sync(sink_); !outcome) {
    report_failure(outcome.error(), journal_.text());
  }
  ready_for_query();
}

void Conversation::on_function_call(Bytes payload) {
  begin_statement();
  const sql::Outcome outcome =
      replication_ ? std::unexpected{reject(Error{
                         state::protocol_violation,
                         "fastpath function calls not supported in a replication connection"})}
                   : call_function(payload);
  if (!outcome) report_failure(outcome.error(), {});
  on_sync();
}

sql::Outcome Conversation::call_function(Bytes payload) {
  const auto message = decoder_.decode_function_call(payload, client_text());
  if (!message) return std::unexpected{reject(message.error())};
  std::string value;
  auto outcome = session_.call_function({.function = message->function,
                                         .formats = message->argument_formats,
                                         .arguments = message->arguments,
                                         .result = message->result_format},
                                        sink_, value);
  if (!outcome) return outcome;
  SendBuffer& out = channel_.out();
  const SendBuffer::Mark mark = out.begin(BackendKind::function_call_response);
  out.put_text(value);
  out.end(mark);
  channel_.flush_if_full();
  return outcome;
}

sql::Diagnostic Conversation::reject(const Error& error) {
  // Run a statement that cannot succeed: only the session can fail its transaction block. It is
  // named, so that it does not replace the unnamed statement.
  constexpr std::string_view kNever = "refused message";
  (void)session_.parse(kNever, "refused", {}, sink_);
  return report_of(sql::Severity::error, error);
}

void Conversation::report(const sql::Diagnostic& diagnostic) {
  // A terminated session reports that reason, whatever failed.
  const auto reason = is_running_ ? session_.termination() : std::nullopt;
  const sql::Diagnostic& told = reason ? *reason : diagnostic;
  SendBuffer& out = sink_.text_out();
  // As in PostgreSQL, an error that cannot be said in the client's encoding is replaced by that
  // error.
  const auto other = untranslatable(out, told);
  put_report(out, BackendKind::error_response, other ? *other : told);
  if (told.severity != sql::Severity::fatal) return;
  is_running_ = false;
  note_end(told.state == sqlstate::admin_shutdown ? sql::SessionEnd::killed
                                                  : sql::SessionEnd::fatal);
}

void Conversation::report_failure(const sql::Diagnostic& diagnostic, std::string_view text) {
  journal_.failed(diagnostic, text);
  report(diagnostic);
}

void Conversation::ready_for_query() {
  watch_.stop();
  if (session_.transaction_status() == sql::TransactionStatus::idle) transaction_end_.reset();
  journal_.end(session_.transaction_status() != sql::TransactionStatus::idle);
  if (sink_.stop()) {
    note_stop(*sink_.stop());
    return;
  }
  if (!is_running_) return;
  if (sink_.take_settings_changed()) read_settings();
  session_.send_notifications(sink_);
  put_ready_for_query(channel_.out(), session_.transaction_status());
  channel_.flush();
}

Duration Conversation::setting_ms(std::string_view name) const {
  const std::optional<std::string> text = session_.setting(name);
  if (!text) return Duration::zero();
  // The text is in SHOW's form: a number with a unit, 0 for "never".
  std::int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [unit, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{}) return Duration::zero();
  const std::string_view name_of_unit{unit, static_cast<std::size_t>(end - unit)};
  using namespace std::chrono_literals;
  if (name_of_unit == "us") return number * Duration{1us};
  if (name_of_unit == "s") return number * Duration{1s};
  if (name_of_unit == "min") return number * Duration{1min};
  if (name_of_unit == "h") return number * Duration{1h};
  if (name_of_unit == "d") return number * Duration{24h};
  return number * Duration{1ms};
}

void Conversation::read_settings() {
  journal_.read_settings(session_);
  statement_timeout_ = setting_ms("statement_timeout");
  idle_in_transaction_timeout_ = setting_ms("idle_in_transaction_session_timeout");
  idle_session_timeout_ = setting_ms("idle_session_timeout");
  const Duration timeout = setting_ms("transaction_timeout");
  if (std::exchange(transaction_timeout_, timeout) == timeout) return;
  // A new value counts from now on, also within a transaction.
  transaction_end_.reset();
  const bool in_transaction = session_.transaction_status() != sql::TransactionStatus::idle;
  if (in_transaction && timeout > Duration::zero()) {
    transaction_end_ = Runtime::current().now() + timeout;
  }
}

Duration Conversation::idle_timeout() const {
  return session_.transaction_status() == sql::TransactionStatus::idle
             ? idle_session_timeout_
             : idle_in_transaction_timeout_;
}

}  // namespace swizzle::server
