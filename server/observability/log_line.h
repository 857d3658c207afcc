#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swizzle::server {

/// The session that a line of the log is about. Only the session changes it.
struct LogSubject {
  std::string user;
  std::string database;
  std::string application;
  std::string host;  ///< an address, or "[local]"
  std::uint16_t port = 0;
  std::uint32_t backend_pid = 0;
  std::int64_t connected_us = 0;  ///< since 1970
  std::uint64_t line = 0;         ///< lines so far
};

enum class LogFormat : std::uint8_t { plain, json };

/// Severity for the server's log, in which LOG is above ERROR. Messages below a warning have none.
enum class LogLevel : std::uint8_t { warning, error, log, fatal, panic };

/// Returns the lowest severity that log_min_messages or a similar setting logs.
LogLevel log_level(std::string_view name) noexcept;

/// One entry of the log. Empty fields are left out.
struct LogEntry {
  std::string_view severity = {};  ///< LOG, ERROR, WARNING, …
  std::string_view message = {};
  std::string_view sqlstate = {};
  std::string_view detail = {};
  std::string_view hint = {};
  std::string_view context = {};
  std::string_view statement = {};
  std::string_view command_tag = {};
};

/// Time and process of an entry.
struct LogMoment {
  std::int64_t now_us = 0;  ///< since 1970
  std::int64_t process = 0;
};

/// PostgreSQL's log_line_prefix: the escapes %a %b %c %d %e %h %i %l %m %n %p %P %q %Q %r %s %t %u
/// %v %x %%, with a width between % and the letter; negative: padded on the right. Times are UTC.
/// Without a subject, session escapes are empty and %q ends the prefix.
std::string expand_prefix(std::string_view prefix, const LogMoment& moment,
                          const LogSubject* subject, const LogEntry& entry);

/// PostgreSQL's plain format: a line each for message, DETAIL, HINT and STATEMENT, all with the
/// prefix; further lines of a text begin with a tab.
std::string plain_lines(std::string_view prefix, const LogMoment& moment, const LogSubject* subject,
                        const LogEntry& entry);

/// PostgreSQL's jsonlog: an object on one line, with its names.
std::string json_line(const LogMoment& moment, const LogSubject* subject, const LogEntry& entry);

}  // namespace swizzle::server
