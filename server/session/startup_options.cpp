#include "server/session/startup_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

constexpr SqlState kSyntaxError{"42601"};
/// Length of names in PostgreSQL.
constexpr std::size_t kMaxNameBytes = 63;

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_blank = text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r');
    if (is_blank) {
      in_word = false;
      continue;
    }
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back().push_back(text[at]);
  }
  return words;
}

/// Truncates a name to 63 bytes, at a character's boundary.
std::string cut_name(std::string_view name) {
  if (name.size() <= kMaxNameBytes) return std::string{name};
  std::size_t end = kMaxNameBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return std::string{name.substr(0, end)};
}

bool is_true(std::string_view value) {
  return value == "true" || value == "on" || value == "yes" || value == "1";
}

bool is_false(std::string_view value) {
  return value == "false" || value == "off" || value == "no" || value == "0";
}

}  // namespace

Result<NamedValues> parse_command_line_options(std::string_view text) {
  NamedValues values;
  const std::vector<std::string> words = split_words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string assignment;
    if (words[i] == "-c" && i + 1 < words.size()) {
      assignment = words[++i];
    } else if (words[i].starts_with("-c") || words[i].starts_with("--")) {
      assignment = words[i].substr(2);
    }
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(kSyntaxError,
                  fmt::format("invalid command-line argument for server process: {}", words[i]));
    }
    std::string name = assignment.substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    values.emplace_back(std::move(name), assignment.substr(equals + 1));
  }
  return values;
}

Result<sql::SessionOptions> session_options(const StartupMessage& message) {
  sql::SessionOptions options;
  options.user.clear();
  options.database.clear();
  for (const auto& [name, value] : message.parameters) {
    if (name == "user") {
      options.user = cut_name(value);
    } else if (name == "database") {
      options.database = cut_name(value);
    } else if (name == "options") {
      ASSIGN_OR_RETURN(const NamedValues values, parse_command_line_options(value));
      options.parameters.insert(options.parameters.end(), values.begin(), values.end());
    } else if (name == "replication") {
      if (is_false(value)) continue;
      options.is_replication = is_true(value) || value == "database";
      if (options.is_replication) continue;
      return fail(Error{sqlstate::invalid_parameter_value,
                        fmt::format("invalid value for parameter \"replication\": \"{}\"", value)}
                      .with_hint("Valid values are: \"false\", 0, \"true\", 1, \"database\"."));
    } else if (!name.starts_with("_pq_.")) {
      options.parameters.emplace_back(name, value);
    }
  }
  if (options.user.empty()) {
    return fail(state::invalid_authorization,
                "no PostgreSQL user name specified in startup packet");
  }
  // A standby connects to no database; its session uses one that always exists.
  if (is_physical_replication(message)) options.database = "postgres";
  if (options.database.empty()) options.database = options.user;
  return options;
}

bool is_physical_replication(const StartupMessage& message) noexcept {
  bool is_physical = false;
  for (const auto& [name, value] : message.parameters) {
    if (name == "replication") is_physical = is_true(value);
  }
  return is_physical;
}

std::vector<std::string_view> unknown_extensions(const StartupMessage& message) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : message.parameters) {
    if (name.starts_with("_pq_.")) names.push_back(name);
  }
  return names;
}

}  // namespace swizzle::server
