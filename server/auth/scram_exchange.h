#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/auth/scram_verifier.h"

namespace swizzle::server {

inline constexpr std::string_view kScramSha256 = "SCRAM-SHA-256";
inline constexpr std::string_view kScramSha256Plus = "SCRAM-SHA-256-PLUS";

/// The server's side of one SCRAM-SHA-256 login (RFC 5802, 7677), with channel binding by
/// tls-server-end-point (RFC 5929) when the connection is TLS. Messages are bounded; malformed ones
/// are 08P01, and a wrong proof is 28P01.
class ScramExchange {
 public:
  /// `endpoint_hash` is the hash of the server's certificate; absent without TLS.
  ScramExchange(ScramVerifier verifier, std::optional<std::string> endpoint_hash,
                std::string server_nonce = random_nonce());

  /// Takes client-first; returns server-first.
  Result<std::string> begin(std::string_view mechanism, std::string_view client_first);
  /// Takes client-final; returns server-final. 28P01 when the proof is wrong. Pre: begin()
  /// succeeded.
  Result<std::string> finish(std::string_view client_final);

  static std::string random_nonce();
  static constexpr std::size_t kMaxMessageBytes = 2048;

 private:
  Result<> check_binding_flag(std::string_view mechanism, std::string_view flag) const;
  [[nodiscard]] std::string expected_binding() const;

  ScramVerifier verifier_;
  std::optional<std::string> endpoint_hash_;
  std::string nonce_;  ///< the server's part, then both parts
  std::string gs2_header_;
  std::string client_first_bare_;
  std::string server_first_;
};

}  // namespace swizzle::server
