#include "server/observability/session_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/script.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::server {
namespace {

/// A setting's value in milliseconds, as SHOW writes it; nothing for -1.
std::optional<Duration> milliseconds_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [unit, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view name{unit, static_cast<std::size_t>(end - unit)};
  using namespace std::chrono_literals;
  if (name == "s") return number * Duration{1s};
  if (name == "min") return number * Duration{1min};
  if (name == "h") return number * Duration{1h};
  if (name == "d") return number * Duration{24h};
  return number * Duration{1ms};
}

}  // namespace

SessionJournal::SessionJournal(StatementMetrics& metrics, ServerLog& log, sql::SessionUsage& usage,
                               LogSubject subject)
    : share_(metrics.share_of_this_thread()),
      log_(log),
      usage_(usage),
      subject_(std::move(subject)) {}

void SessionJournal::read_settings(const sql::Session& session) {
  log_revision_ = log_.revision();
  const auto is_on = [&](std::string_view name) { return session.setting(name) == "on"; };
  slow_ = milliseconds_of(session.setting("log_min_duration_statement"));
  log_duration_ = is_on("log_duration");
  log_connections_ = is_on("log_connections");
  log_disconnections_ = is_on("log_disconnections");
  const std::string statements = session.setting("log_statement").value_or("none");
  log_statement_ = statements == "all"   ? LogStatement::all
                   : statements == "mod" ? LogStatement::mod
                   : statements == "ddl" ? LogStatement::ddl
                                         : LogStatement::none;
  errors_from_ = log_level(session.setting("log_min_messages").value_or("warning"));
  failed_statements_from_ = log_level(session.setting("log_min_error_statement").value_or("error"));
  subject_.application = session.setting("application_name").value_or("");
  wants_text_ = slow_ || log_statement_ != LogStatement::none;
}

void SessionJournal::note_connection() {
  if (!log_connections_) return;
  const std::string message =
      fmt::format("connection authorized: user={} database={}{}", subject_.user, subject_.database,
                  subject_.application.empty() ? "" : " application_name=" + subject_.application);
  log_.write({.severity = "LOG", .message = message, .command_tag = "authentication"}, &subject_);
}

void SessionJournal::note_disconnection() {
  if (!log_disconnections_) return;
  const std::int64_t ms = (Runtime::current().wall_clock_us() - subject_.connected_us) / 1'000;
  const std::string port = subject_.port == 0 ? "" : fmt::format(" port={}", subject_.port);
  const std::string message =
      fmt::format("disconnection: session time: {}:{:02}:{:02}.{:03} user={} database={} host={}{}",
                  ms / 3'600'000, ms / 60'000 % 60, ms / 1'000 % 60, ms % 1'000, subject_.user,
                  subject_.database, subject_.host, port);
  log_.write({.severity = "LOG", .message = message, .command_tag = "idle"}, &subject_);
}

void SessionJournal::begin() {
  if (started_) return;
  started_ = Runtime::current().now();
  usage_.begin_request(*started_);
}

void SessionJournal::keep(std::string_view text) {
  constexpr std::size_t kLong = std::size_t{1} << 20U;
  if (text.size() < kLong) {
    text_.assign(text);
  } else {
    Runtime::current().run_aside([&] { text_.assign(text); });
  }
}

void SessionJournal::running(sql::Session& session, std::string_view text,
                             std::optional<std::string_view> statement) {
  if (pending_) finish_pending(Runtime::current().now());
  may_be_several_ = !statement;
  completed_ = 0;
  // No statement fails with more than FATAL, so PANIC turns its text off.
  if (wants_text_ || failed_statements_from_ != LogLevel::panic) {
    keep(text);
  } else {
    text_.clear();
  }
  if (!wants_text_) return;
  statement_ = statement ? std::optional<std::string>{*statement} : std::nullopt;
  text_is_logged_ = is_logged_by_class(text, session);
  if (!text_is_logged_) return;
  const std::string message =
      statement_
          ? fmt::format("execute {}: {}", statement_->empty() ? "<unnamed>" : *statement_, text_)
          : fmt::format("statement: {}", text_);
  log_.write({.severity = "LOG", .message = message}, &subject_);
}

bool SessionJournal::is_logged_by_class(std::string_view text, sql::Session& session) const {
  if (log_statement_ == LogStatement::none) return false;
  if (log_statement_ == LogStatement::all) return true;
  const sql::LogClass lowest =
      log_statement_ == LogStatement::mod ? sql::LogClass::change : sql::LogClass::definition;
  return sql::log_class(session, text) >= lowest;
}

void SessionJournal::completed(std::string_view tag) {
  if (pending_) finish_pending(completed_at_);
  ++completed_;
  pending_ = kind_of_tag(tag);
  // In the simple protocol another statement of the same message may follow; then this one ended
  // here. Otherwise it ends with the message.
  if (may_be_several_) completed_at_ = Runtime::current().now();
  if (wants_text_ || log_duration_) tag_.assign(tag.substr(0, tag.find_first_of(" 0123456789")));
}

void SessionJournal::failed(const sql::Diagnostic& error, std::string_view text) {
  share_.note_error(error.state);
  const LogLevel level = error.severity == sql::Severity::fatal ? LogLevel::fatal : LogLevel::error;
  if (level < errors_from_) return;
  if (level < failed_statements_from_) text = {};
  log_.write({.severity = sql::severity_name(error.severity),
              .message = error.message,
              .sqlstate = error.state.code(),
              .detail = error.detail,
              .hint = error.hint,
              .context = error.where,
              .statement = text},
             &subject_);
}

std::string_view SessionJournal::failed_text() const {
  return may_be_several_ ? sql::statement_after(text_, completed_) : text_;
}

void SessionJournal::end(bool in_transaction) {
  if (!started_) return;
  const TimePoint now = Runtime::current().now();
  if (pending_) finish_pending(now);
  usage_.end_request(now, in_transaction);
  started_.reset();
  // An idle session does not keep an unusually long text's memory.
  constexpr std::size_t kUsualText = 4096;
  if (text_.capacity() > kUsualText) text_ = std::string{};
}

void SessionJournal::finish_pending(TimePoint now) {
  const Duration took = now - *started_;
  share_.note(*pending_, took);
  pending_.reset();
  started_ = now;
  if (log_duration_ || (slow_ && took >= *slow_)) log_duration(took);
}

void SessionJournal::stalled(Duration turn, std::string_view text) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(turn).count();
  const std::string message =
      fmt::format("other sessions of the reactor waited for {} ms  statement: {}", ms, text);
  log_.write({.severity = "LOG", .message = message, .command_tag = tag_}, &subject_);
}

void SessionJournal::log_duration(Duration took) {
  const double ms = std::chrono::duration<double, std::milli>(took).count();
  std::string message = fmt::format("duration: {:.3f} ms", ms);
  // The text is in the line before already, or the statement was not slow enough to log it.
  if (slow_ && took >= *slow_ && !text_is_logged_ && !text_.empty()) {
    message += statement_ ? fmt::format("  execute {}: {}",
                                        statement_->empty() ? "<unnamed>" : *statement_, text_)
                          : fmt::format("  statement: {}", text_);
  }
  log_.write({.severity = "LOG", .message = message, .command_tag = tag_}, &subject_);
}

}  // namespace swizzle::server
