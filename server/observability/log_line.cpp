#include "server/observability/log_line.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "server/observability/json_text.h"

namespace swizzle::server {
namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;

std::string time_text(std::int64_t us, bool with_milliseconds) {
  const std::tm utc = fmt::gmtime(static_cast<std::time_t>(us / kMicroseconds));
  return with_milliseconds ? fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", utc, us / 1000 % 1000)
                           : fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", utc);
}

/// PostgreSQL's %c: the start time of the session, or 0 without one, and its number.
std::string session_id(const LogMoment& moment, const LogSubject* subject) {
  return subject != nullptr
             ? fmt::format("{:x}.{:x}", subject->connected_us / kMicroseconds, subject->backend_pid)
             : fmt::format("{:x}.{:x}", 0, moment.process);
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "[unknown]" : text;
}

/// Returns the text of an escape; nothing for an unknown letter.
std::string expand(char escape, const LogMoment& moment, const LogSubject* subject,
                   const LogEntry& entry) {
  switch (escape) {
    case 'a':
      return subject != nullptr ? or_unknown(subject->application) : "";
    case 'b':
      return subject != nullptr ? "client backend" : "postmaster";
    case 'c':
      return session_id(moment, subject);
    case 'd':
      return subject != nullptr ? or_unknown(subject->database) : "";
    case 'e':
      return std::string{entry.sqlstate.empty() ? "00000" : entry.sqlstate};
    case 'h':
      return subject != nullptr ? subject->host : "";
    case 'i':
      return std::string{entry.command_tag};
    case 'l':
      return subject != nullptr ? std::to_string(subject->line) : "1";
    case 'm':
      return time_text(moment.now_us, true);
    case 'n':
      return fmt::format("{}.{:03}", moment.now_us / kMicroseconds, moment.now_us / 1000 % 1000);
    case 'p':
      return std::to_string(subject != nullptr ? subject->backend_pid : moment.process);
    case 'r':
      if (subject == nullptr) return "";
      return subject->port == 0 ? subject->host
                                : fmt::format("{}({})", subject->host, subject->port);
    case 's':
      return subject != nullptr ? time_text(subject->connected_us, false) : "";
    case 't':
      return time_text(moment.now_us, false);
    case 'u':
      return subject != nullptr ? or_unknown(subject->user) : "";
    case 'x':
    case 'Q':
      return "0";
    default:
      return "";  // %P and %v among them: there are no parallel workers and no virtual transactions
  }
}

void append_padded(std::string& out, const std::string& text, int width) {
  const auto wanted = static_cast<std::size_t>(width < 0 ? -width : width);
  const std::size_t padding = wanted > text.size() ? wanted - text.size() : 0;
  if (width > 0) out.append(padding, ' ');
  out += text;
  if (width < 0) out.append(padding, ' ');
}

void append_plain(std::string& out, const std::string& prefix, std::string_view label,
                  std::string_view text) {
  if (text.empty()) return;
  out += prefix;
  out += label;
  out += ":  ";
  for (const char letter : text) {
    out += letter;
    if (letter == '\n') out += '\t';
  }
  out += '\n';
}

void add_member(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  fmt::format_to(std::back_inserter(out), "{}\"{}\":", out.size() > 1 ? "," : "", name);
  append_json_text(out, text);
}

void add_member(std::string& out, std::string_view name, std::int64_t number) {
  fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", out.size() > 1 ? "," : "", name, number);
}

}  // namespace

LogLevel log_level(std::string_view name) noexcept {
  if (name == "error") return LogLevel::error;
  if (name == "log") return LogLevel::log;
  if (name == "fatal") return LogLevel::fatal;
  return name == "panic" ? LogLevel::panic : LogLevel::warning;
}

std::string expand_prefix(std::string_view prefix, const LogMoment& moment,
                          const LogSubject* subject, const LogEntry& entry) {
  std::string out;
  for (std::size_t at = 0; at < prefix.size(); ++at) {
    if (prefix[at] != '%') {
      out += prefix[at];
      continue;
    }
    int width = 0;
    const char* const begin = prefix.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, prefix.data() + prefix.size(), width);
    if (error == std::errc{}) at += static_cast<std::size_t>(end - begin);
    if (++at >= prefix.size()) break;
    if (prefix[at] == '%') {
      out += '%';
    } else if (prefix[at] == 'q') {
      if (subject == nullptr) break;
    } else {
      constexpr int kWidest = 1000;
      append_padded(out, expand(prefix[at], moment, subject, entry),
                    std::clamp(width, -kWidest, kWidest));
    }
  }
  return out;
}

std::string plain_lines(std::string_view prefix, const LogMoment& moment, const LogSubject* subject,
                        const LogEntry& entry) {
  const std::string expanded = expand_prefix(prefix, moment, subject, entry);
  std::string out;
  append_plain(out, expanded, entry.severity, entry.message);
  append_plain(out, expanded, "DETAIL", entry.detail);
  append_plain(out, expanded, "HINT", entry.hint);
  append_plain(out, expanded, "CONTEXT", entry.context);
  append_plain(out, expanded, "STATEMENT", entry.statement);
  return out;
}

std::string json_line(const LogMoment& moment, const LogSubject* subject, const LogEntry& entry) {
  std::string out{"{"};
  add_member(out, "timestamp", time_text(moment.now_us, true));
  if (subject != nullptr) {
    add_member(out, "user", subject->user);
    add_member(out, "dbname", subject->database);
    add_member(out, "pid", subject->backend_pid);
    add_member(out, "remote_host", subject->host);
    if (subject->port != 0) add_member(out, "remote_port", subject->port);
    add_member(out, "session_id", session_id(moment, subject));
    add_member(out, "line_num", static_cast<std::int64_t>(subject->line));
    add_member(out, "session_start", time_text(subject->connected_us, false));
  } else {
    add_member(out, "pid", moment.process);
  }
  add_member(out, "ps", entry.command_tag);
  add_member(out, "error_severity", entry.severity);
  add_member(out, "state_code", entry.sqlstate);
  add_member(out, "message", entry.message);
  add_member(out, "detail", entry.detail);
  add_member(out, "hint", entry.hint);
  add_member(out, "context", entry.context);
  add_member(out, "statement", entry.statement);
  if (subject != nullptr) add_member(out, "application_name", subject->application);
  add_member(out, "backend_type", subject != nullptr ? "client backend" : "postmaster");
  out += "}\n";
  return out;
}

}  // namespace swizzle::server
