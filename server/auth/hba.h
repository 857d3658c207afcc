#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle::server {

/// An IPv4 or IPv6 address. An IPv4 address mapped into IPv6 counts as IPv4.
class IpAddress {
 public:
  static std::optional<IpAddress> parse(std::string_view text);
  /// `bytes`: 4 or 16 of them, as in sockaddr_in and sockaddr_in6.
  static IpAddress from_bytes(Bytes bytes);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_loopback() const noexcept;
  [[nodiscard]] std::size_t bits() const noexcept { return size_ * 8; }
  /// The address with zeros after its first `prefix_bits`. Pre: a multiple of 8.
  [[nodiscard]] IpAddress network(std::size_t prefix_bits) const noexcept;
  /// For a netmask: how many ones it starts with; nothing if others follow the first zero.
  [[nodiscard]] std::optional<std::size_t> mask_bits() const noexcept;
  /// True if both are of one family and agree in the first `prefix_bits`.
  [[nodiscard]] bool shares_prefix(const IpAddress& other, std::size_t prefix_bits) const noexcept;

 private:
  std::array<std::byte, 16> bytes_{};
  std::size_t size_ = 4;
};

enum class Transport : std::uint8_t { unix_socket, tcp, tls };

/// The facts about a connection that the rules can see.
struct Visitor {
  Transport transport = Transport::unix_socket;
  std::optional<IpAddress> address;  ///< set unless unix_socket
  std::string_view database;
  std::string_view role;
  bool is_physical_replication = false;
};

enum class AuthMethod : std::uint8_t { trust, reject, scram_sha_256, peer };

/// One line of the file.
struct HbaRule {
  enum class Type : std::uint8_t { local, host, host_tls, host_plain };

  Type type = Type::local;
  std::vector<std::string> databases;  ///< names, or `all`, `sameuser`, `replication`
  std::vector<std::string> roles;      ///< names, or `all`
  /// Absent: every address (or a local rule).
  std::optional<IpAddress> network;
  std::size_t prefix_bits = 0;
  AuthMethod method = AuthMethod::reject;
  std::size_t line = 0;

  [[nodiscard]] bool matches(const Visitor& visitor) const;
};

/// Rules for client authentication, in the format of PostgreSQL's pg_hba.conf. Supported are local,
/// host, hostssl and hostnossl lines with the methods trust, reject, scram-sha-256 and peer. Other
/// lines are errors when the file is read; none is skipped.
class HbaRules {
 public:
  HbaRules() = default;

  /// F0000 with the line's number. Trust is accepted for unix sockets and loopback networks only.
  static Result<HbaRules> parse(std::string_view text);

  /// Returns the first matching rule; null if none matches.
  [[nodiscard]] const HbaRule* find(const Visitor& visitor) const;
  [[nodiscard]] const std::vector<HbaRule>& rules() const noexcept { return rules_; }

 private:
  std::vector<HbaRule> rules_;
};

}  // namespace swizzle::server
