#include "sql-lite-frontend/session/replication/command.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "sql-lite-frontend/query/parse/token_skipper.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::array<std::string_view, 9> kFirstWords{"IDENTIFY_SYSTEM",
                                                      "CREATE_REPLICATION_SLOT",
                                                      "DROP_REPLICATION_SLOT",
                                                      "START_REPLICATION",
                                                      "READ_REPLICATION_SLOT",
                                                      "TIMELINE_HISTORY",
                                                      "BASE_BACKUP",
                                                      "BASE_COPY",
                                                      "PAGE_LSNS"};

struct Token {
  enum class Kind : std::uint8_t { end, word, name, text, sign } kind = Kind::end;
  std::string value;
};

bool is_blank(char letter) noexcept {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

bool is_of_word(char letter) noexcept {
  return continues_name(letter) || letter == '/' || letter == '.' || letter == '-';
}

std::string upper(std::string_view text) {
  std::string result{text};
  for (char& letter : result) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return result;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) { advance(); }

  [[nodiscard]] const Token& now() const noexcept { return now_; }
  Token take() {
    Token taken = std::move(now_);
    advance();
    return taken;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return now_.kind == Token::Kind::word && upper(now_.value) == word;
  }
  bool take_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
  }
  bool take_sign(std::string_view sign) {
    if (now_.kind != Token::Kind::sign || now_.value != sign) return false;
    advance();
    return true;
  }
  void require_word(std::string_view word) {
    if (!take_word(word)) refuse();
  }
  /// Returns a name: unchanged if quoted, else in lower case.
  std::string require_name() {
    const Token token = take();
    if (token.kind == Token::Kind::name) return token.value;
    if (token.kind != Token::Kind::word) refuse();
    return lower(token.value);
  }
  [[noreturn]] void refuse() const {
    if (now_.kind == Token::Kind::end)
      throw SqlError{sqlstate::syntax_error, "syntax error in replication command"};
    throw_error(sqlstate::syntax_error, "syntax error in replication command near \"{}\"",
                now_.value);
  }

 private:
  void advance() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    now_ = Token{};
    if (rest_.empty()) return;
    const char first = rest_.front();
    if (first == '"' || first == '\'') return take_quoted(first);
    if (!is_of_word(first)) {
      now_ = {Token::Kind::sign, std::string{first}};
      rest_.remove_prefix(1);
      return;
    }
    const auto length =
        static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_of_word) - rest_.begin());
    now_ = {Token::Kind::word, std::string{rest_.substr(0, length)}};
    rest_.remove_prefix(length);
  }
  void take_quoted(char quote) {
    rest_.remove_prefix(1);
    std::string value;
    for (;;) {
      const std::size_t end = rest_.find(quote);
      if (end == std::string_view::npos)
        throw SqlError{sqlstate::syntax_error, "unterminated quoted string"};
      value += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (rest_.empty() || rest_.front() != quote) break;
      value += quote;
      rest_.remove_prefix(1);
    }
    now_ = {quote == '"' ? Token::Kind::name : Token::Kind::text, std::move(value)};
  }

  std::string_view rest_;
  Token now_;
};

bool is_true(std::string_view value) {
  const std::string word = lower(value);
  if (word.empty() || word == "true" || word == "on" || word == "1") return true;
  if (word == "false" || word == "off" || word == "0") return false;
  throw_error(sqlstate::invalid_parameter_value, "\"{}\" is not a Boolean value", value);
}

/// Reads "(name [value], …)".
std::vector<std::pair<std::string, std::string>> take_options(Tokens& tokens) {
  std::vector<std::pair<std::string, std::string>> options;
  if (!tokens.take_sign("(")) return options;
  do {
    std::string name = tokens.require_name();
    std::string value;
    const Token::Kind next = tokens.now().kind;
    if (next == Token::Kind::text || next == Token::Kind::word || next == Token::Kind::name)
      value = tokens.take().value;
    options.emplace_back(std::move(name), std::move(value));
  } while (tokens.take_sign(","));
  if (!tokens.take_sign(")")) tokens.refuse();
  return options;
}

void take_slot_options(Tokens& tokens, ReplicationCommand& command) {
  if (tokens.now().kind == Token::Kind::sign) {
    for (const auto& [name, value] : take_options(tokens)) {
      if (name == "snapshot") {
        command.snapshot = value;
        const bool is_known = value == "export" || value == "use" || value == "nothing";
        if (is_known) continue;
        throw_error(sqlstate::syntax_error,
                    "unrecognized value for CREATE_REPLICATION_SLOT option \"{}\": \"{}\"", name,
                    value);
      }
      if (name == "two_phase") {
        command.two_phase = is_true(value);
        continue;
      }
      throw_error(sqlstate::syntax_error, "unrecognized option: {}", name);
    }
    return;
  }
  for (;;) {
    if (tokens.take_word("EXPORT_SNAPSHOT")) {
      command.snapshot = "export";
    } else if (tokens.take_word("NOEXPORT_SNAPSHOT")) {
      command.snapshot = "nothing";
    } else if (tokens.take_word("USE_SNAPSHOT")) {
      command.snapshot = "use";
    } else if (tokens.take_word("TWO_PHASE")) {
      command.two_phase = true;
    } else {
      return;
    }
  }
}

void take_physical_slot_options(Tokens& tokens, ReplicationCommand& command) {
  command.is_physical = true;
  if (tokens.now().kind != Token::Kind::sign) {
    command.reserves_log = tokens.take_word("RESERVE_WAL");
    return;
  }
  for (const auto& [name, value] : take_options(tokens)) {
    if (name != "reserve_wal") throw_error(sqlstate::syntax_error, "unrecognized option: {}", name);
    command.reserves_log = is_true(value);
  }
}

std::uint32_t take_timeline(Tokens& tokens) {
  const Token token = tokens.now();
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(token.value.data(), token.value.data() + token.value.size(), number);
  const bool is_whole = error == std::errc{} && end == token.value.data() + token.value.size();
  if (token.kind != Token::Kind::word || !is_whole) tokens.refuse();
  if (number == 0) throw SqlError{sqlstate::syntax_error, "invalid timeline 0"};
  tokens.take();
  return number;
}

ReplicationCommand take_create(Tokens& tokens) {
  ReplicationCommand command{.kind = ReplicationCommand::Kind::create_slot};
  command.slot = tokens.require_name();
  command.is_temporary = tokens.take_word("TEMPORARY");
  if (tokens.take_word("PHYSICAL")) {
    take_physical_slot_options(tokens, command);
    return command;
  }
  tokens.require_word("LOGICAL");
  command.plugin = tokens.require_name();
  take_slot_options(tokens, command);
  return command;
}

ReplicationCommand take_start(Tokens& tokens) {
  ReplicationCommand command{.kind = ReplicationCommand::Kind::start};
  if (tokens.take_word("SLOT")) command.slot = tokens.require_name();
  if (command.slot.empty() || !tokens.take_word("LOGICAL")) {
    command.is_physical = true;
    tokens.take_word("PHYSICAL");
    command.from = parse_lsn(tokens.take().value);
    if (tokens.take_word("TIMELINE")) command.timeline = take_timeline(tokens);
    return command;
  }
  command.from = parse_lsn(tokens.take().value);
  command.options = take_options(tokens);
  return command;
}

void take_page_lsns(Tokens& tokens, ReplicationCommand& command) {
  command.kind = ReplicationCommand::Kind::page_lsns;
  const Token first = tokens.take();
  const auto [end, error] = std::from_chars(
      first.value.data(), first.value.data() + first.value.size(), command.first_page);
  const bool is_number = error == std::errc{} && end == first.value.data() + first.value.size();
  if (first.kind != Token::Kind::word || !is_number) tokens.refuse();
  if (tokens.now().kind != Token::Kind::text) tokens.refuse();
  command.page_lsns = tokens.take().value;
}

/// Splits a list of identifiers such as "a", b.
std::vector<std::string> listed_names(std::string_view list) {
  std::vector<std::string> names;
  Tokens tokens{list};
  do {
    names.push_back(tokens.require_name());
  } while (tokens.take_sign(","));
  if (tokens.now().kind != Token::Kind::end)
    throw SqlError{SqlState{"42602"}, "invalid publication_names syntax"};
  return names;
}

/// True for "none".
bool is_only_own(const std::string& value) {
  if (lower(value) == "any") return false;
  if (lower(value) == "none") return true;
  throw_error(sqlstate::invalid_parameter_value, "unrecognized origin value: \"{}\"", value);
}

void require_version(int version, const OutputOptions& options) {
  constexpr int kStreams = 2;
  constexpr int kHasTwoPhase = 3;
  constexpr int kStreamsInParallel = 4;
  const auto require = [&](std::string_view what, int needed) {
    if (version >= needed) return;
    throw_error(sqlstate::invalid_parameter_value,
                "requested proto_version={} does not support {}, need {} or higher", version, what,
                needed);
  };
  using Streaming = OutputOptions::Streaming;
  if (options.streaming == Streaming::on) require("streaming", kStreams);
  if (options.streaming == Streaming::parallel) require("parallel streaming", kStreamsInParallel);
  if (options.two_phase) require("two-phase commit", kHasTwoPhase);
}

}  // namespace

std::string_view ReplicationCommand::tag() const noexcept {
  switch (kind) {
    case Kind::identify_system:
      return "IDENTIFY_SYSTEM";
    case Kind::timeline_history:
      return "TIMELINE_HISTORY";
    case Kind::read_slot:
      return "READ_REPLICATION_SLOT";
    case Kind::base_copy:
      return "BASE_COPY";
    case Kind::page_lsns:
      return "PAGE_LSNS";
    case Kind::create_slot:
      return "CREATE_REPLICATION_SLOT";
    case Kind::drop_slot:
      return "DROP_REPLICATION_SLOT";
    case Kind::start:
      break;
  }
  return is_physical ? "START_STREAMING" : "START_REPLICATION";
}

std::optional<ReplicationCommand> parse_replication_command(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  const auto length =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_word) - text.begin());
  const std::string first = upper(text.substr(0, length));
  if (std::ranges::find(kFirstWords, first) == kFirstWords.end()) return std::nullopt;
  Tokens tokens{text.substr(length)};
  using Kind = ReplicationCommand::Kind;
  ReplicationCommand command{.kind = Kind::identify_system};
  if (first == "CREATE_REPLICATION_SLOT") {
    command = take_create(tokens);
  } else if (first == "START_REPLICATION") {
    command = take_start(tokens);
  } else if (first == "DROP_REPLICATION_SLOT") {
    command.kind = Kind::drop_slot;
    command.slot = tokens.require_name();
    command.waits = tokens.take_word("WAIT");
  } else if (first == "READ_REPLICATION_SLOT") {
    command.kind = Kind::read_slot;
    command.slot = tokens.require_name();
  } else if (first == "TIMELINE_HISTORY") {
    command.kind = Kind::timeline_history;
    command.timeline = take_timeline(tokens);
  } else if (first == "BASE_COPY") {
    command.kind = Kind::base_copy;
  } else if (first == "PAGE_LSNS") {
    take_page_lsns(tokens, command);
  } else if (first != "IDENTIFY_SYSTEM") {
    throw_error(sqlstate::feature_not_supported, "replication command {} is not supported", first);
  }
  tokens.take_sign(";");
  if (tokens.now().kind != Token::Kind::end) tokens.refuse();
  return command;
}

OutputOptions output_options(const ReplicationCommand& command) {
  constexpr int kNewestVersion = 4;
  OutputOptions options;
  int version = 0;
  for (const auto& [name, value] : command.options) {
    if (name == "proto_version") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), version);
      if (error != std::errc{} || end != value.data() + value.size())
        throw SqlError{sqlstate::invalid_parameter_value, "invalid proto_version"};
    } else if (name == "publication_names") {
      options.publications = listed_names(value);
    } else if (name == "binary") {
      options.binary = is_true(value);
    } else if (name == "two_phase") {
      options.two_phase = is_true(value);
    } else if (name == "messages") {
      options.messages = is_true(value);
    } else if (name == "streaming") {
      using Streaming = OutputOptions::Streaming;
      options.streaming = lower(value) == "parallel" ? Streaming::parallel
                          : is_true(value)           ? Streaming::on
                                                     : Streaming::off;
    } else if (name == "origin") {
      options.only_own = is_only_own(value);
    } else {
      throw_error(sqlstate::internal_error, "unrecognized pgoutput option: {}", name);
    }
  }
  if (version > kNewestVersion || version < 1) {
    throw_error(sqlstate::feature_not_supported,
                "client sent proto_version={} but we only support protocol {} or {}", version,
                version < 1 ? 1 : kNewestVersion, version < 1 ? "higher" : "lower");
  }
  require_version(version, options);
  if (options.publications.empty())
    throw SqlError{sqlstate::invalid_parameter_value, "publication_names parameter missing"};
  return options;
}

}  // namespace swizzle::sql
