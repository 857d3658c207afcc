#include "server/auth/hba.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace swizzle::server {
namespace {

/// A field of a line: a comma-separated list of names.
struct Field {
  std::vector<std::string> names;
};

// Prefix of names that were quoted: "all" in quotes is a database of that name, not the keyword.
constexpr char kQuotedMark = '\x01';

std::unexpected<Error> bad_line(std::size_t line, const std::string& what) {
  return fail(sqlstate::config_file_error, fmt::format("hba file, line {}: {}", line, what));
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Splits a line into fields, without comments and blanks.
Result<std::vector<Field>> split(std::string_view line, std::size_t number) {
  std::vector<Field> fields;
  bool continues = false;  // after a comma, the next name belongs to the same field
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    if (line[at] == ',') {
      if (fields.empty()) return bad_line(number, "a comma where a name should be");
      continues = true;
      ++at;
      continue;
    }
    std::string name;
    if (line[at] == '"') {
      const std::size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos) return bad_line(number, "a quote is not closed");
      name = kQuotedMark + std::string{line.substr(at + 1, end - at - 1)};
      at = end + 1;
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\r,#\"", at), line.size());
      name = std::string{line.substr(at, end - at)};
      at = end;
    }
    if (!continues) fields.emplace_back();
    fields.back().names.push_back(std::move(name));
    continues = false;
  }
  return fields;
}

Result<HbaRule::Type> parse_type(const std::string& word, std::size_t line) {
  if (word == "local") return HbaRule::Type::local;
  if (word == "host" || word == "hostnogssenc") return HbaRule::Type::host;
  if (word == "hostssl") return HbaRule::Type::host_tls;
  if (word == "hostnossl") return HbaRule::Type::host_plain;
  return bad_line(line, fmt::format("connection type \"{}\" is not supported", word));
}

Result<AuthMethod> parse_method(const std::string& word, std::size_t line) {
  if (word == "trust") return AuthMethod::trust;
  if (word == "reject") return AuthMethod::reject;
  if (word == "scram-sha-256") return AuthMethod::scram_sha_256;
  if (word == "peer") return AuthMethod::peer;
  return bad_line(line, fmt::format("authentication method \"{}\" is not supported; there are "
                                    "scram-sha-256, peer, reject and trust",
                                    word));
}

/// Refuses names with a meaning in PostgreSQL that is not supported here, so that they do not pass
/// for plain names.
Result<> check_names(const Field& field, std::size_t line) {
  for (const std::string& name : field.names) {
    if (name.starts_with('+') || name.starts_with('@') || name.starts_with('/') ||
        name == "samerole" || name == "samegroup") {
      return bad_line(line, fmt::format("\"{}\" is not supported", name));
    }
  }
  return {};
}

struct Network {
  std::optional<IpAddress> address;
  std::size_t prefix_bits = 0;
};

/// Parses the network in `fields[at]`, with the mask after it for an address without a prefix
/// length. Advances `at`.
Result<Network> parse_network(const std::vector<Field>& fields, std::size_t& at, std::size_t line) {
  if (at >= fields.size()) return bad_line(line, "an address is missing");
  const std::string& word = fields[at++].names.front();
  if (word == "all") return Network{};
  const std::size_t slash = word.find('/');
  const auto address = IpAddress::parse(std::string_view{word}.substr(0, slash));
  if (!address) {
    return bad_line(line,
                    fmt::format("\"{}\" is not an address (host names are not supported)", word));
  }
  if (slash == std::string::npos) {
    const auto mask =
        at < fields.size() ? IpAddress::parse(fields[at].names.front()) : std::nullopt;
    const auto bits = mask && mask->bits() == address->bits() ? mask->mask_bits() : std::nullopt;
    if (!bits) return bad_line(line, "an address needs a prefix length or a mask");
    ++at;
    return Network{address, *bits};
  }
  std::size_t bits = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + slash + 1, end, bits);
  if (error != std::errc{} || stop != end || bits > address->bits()) {
    return bad_line(line, fmt::format("invalid prefix length in \"{}\"", word));
  }
  return Network{address, bits};
}

/// Refuses peer for remote connections, and trust for all but local ones and loopback: without a
/// password only the operating system may decide who connects.
Result<> check_method(const HbaRule& rule) {
  const bool is_local = rule.type == HbaRule::Type::local;
  if (rule.method == AuthMethod::peer && !is_local) {
    return bad_line(rule.line, "peer authentication is for local connections only");
  }
  const bool is_loopback =
      rule.network && rule.network->is_loopback() &&
      rule.prefix_bits >= (rule.network->bits() == 32 ? std::size_t{8} : std::size_t{128});
  if (rule.method == AuthMethod::trust && !is_local && !is_loopback) {
    return bad_line(rule.line, "trust is accepted for local connections and loopback only");
  }
  return {};
}

Result<HbaRule> parse_rule(const std::vector<Field>& fields, std::size_t line) {
  if (fields.size() < 4) return bad_line(line, "too few fields");
  HbaRule rule;
  rule.line = line;
  ASSIGN_OR_RETURN(rule.type, parse_type(fields[0].names.front(), line));
  RETURN_IF_ERROR(check_names(fields[1], line));
  RETURN_IF_ERROR(check_names(fields[2], line));
  rule.databases = fields[1].names;
  rule.roles = fields[2].names;
  std::size_t at = 3;
  if (rule.type != HbaRule::Type::local) {
    ASSIGN_OR_RETURN(const Network network, parse_network(fields, at, line));
    rule.network = network.address;
    rule.prefix_bits = network.prefix_bits;
  }
  if (at >= fields.size()) return bad_line(line, "a method is missing");
  ASSIGN_OR_RETURN(rule.method, parse_method(fields[at].names.front(), line));
  if (at + 1 < fields.size()) {
    return bad_line(line, fmt::format("authentication option \"{}\" is not supported",
                                      fields[at + 1].names.front()));
  }
  RETURN_IF_ERROR(check_method(rule));
  return rule;
}

bool is_named(const std::string& name, std::string_view wanted) {
  if (name == "all") return true;
  if (name.starts_with(kQuotedMark)) return std::string_view{name}.substr(1) == wanted;
  return name == wanted;
}

bool database_matches(const std::vector<std::string>& names, const Visitor& visitor) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    // A standby connects to no database: neither `all` nor a name matches it.
    if (visitor.is_physical_replication) return name == "replication";
    if (name == "sameuser") return visitor.database == visitor.role;
    if (name == "replication") return false;
    return is_named(name, visitor.database);
  });
}

/// Only "all" is a keyword here: "sameuser" is a role of that name, as in PostgreSQL.
bool role_matches(const std::vector<std::string>& names, const Visitor& visitor) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return is_named(name, visitor.role); });
}

}  // namespace

bool HbaRule::matches(const Visitor& visitor) const {
  const bool is_local = visitor.transport == Transport::unix_socket;
  if (is_local != (type == Type::local)) return false;
  if (type == Type::host_tls && visitor.transport != Transport::tls) return false;
  if (type == Type::host_plain && visitor.transport != Transport::tcp) return false;
  if (network && !(visitor.address && network->shares_prefix(*visitor.address, prefix_bits))) {
    return false;
  }
  return database_matches(databases, visitor) && role_matches(roles, visitor);
}

Result<HbaRules> HbaRules::parse(std::string_view text) {
  HbaRules rules;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    ASSIGN_OR_RETURN(const std::vector<Field> fields, split(text.substr(0, end), number));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.empty()) continue;
    ASSIGN_OR_RETURN(HbaRule rule, parse_rule(fields, number));
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

const HbaRule* HbaRules::find(const Visitor& visitor) const {
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const HbaRule& candidate) {
    return candidate.matches(visitor);
  });
  return rule == rules_.end() ? nullptr : &*rule;
}

}  // namespace swizzle::server
