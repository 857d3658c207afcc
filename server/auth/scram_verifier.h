#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/auth/crypto.h"

namespace swizzle::server {

inline constexpr std::uint32_t kDefaultScramIterations = 4096;
/// Clients pay for iterations at every login; a verifier that asks for more than this is not used.
inline constexpr std::uint32_t kMaxScramIterations = 1'000'000;
inline constexpr std::size_t kScramSaltBytes = 16;

/// The stored form of a password (RFC 5803): enough to check a login, not to make one.
struct ScramVerifier {
  std::uint32_t iterations = kDefaultScramIterations;
  std::string salt;
  Digest stored_key;
  Digest server_key;

  /// PostgreSQL's form: SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>.
  [[nodiscard]] std::string text() const;
  /// Nothing if `text` is not of that form, or beyond kMaxScramIterations.
  static std::optional<ScramVerifier> from_text(std::string_view text);

  /// Returns the stored form of a new password. A verifier is stored unchanged, whatever its
  /// iterations; any other text is hashed, as in PostgreSQL. Costs milliseconds, so not for a
  /// reactor.
  static std::string stored_form(std::string_view password);

  /// Costs milliseconds: not for a reactor.
  static ScramVerifier derive(std::string_view password, std::string_view salt,
                              std::uint32_t iterations);
  /// The same with a fresh salt.
  static ScramVerifier derive(std::string_view password);

  /// Makes a verifier for a role that does not exist or has no password: the exchange runs to its
  /// end and fails, and looks the same each time for the same role. `secret` is the server's own.
  static ScramVerifier pretend(std::string_view role, Bytes secret);
};

}  // namespace swizzle::server
