#pragma once

#include <memory>
#include <string>

#include "base/result.h"

// OpenSSL's type of a context.
struct ssl_ctx_st;

namespace swizzle::server {

/// Parameters of TLS connections.
struct TlsOptions {
  /// Only forward secrecy and authenticated encryption, as in TLS 1.3.
  static constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

  std::string certificate_file;
  std::string key_file;
  std::string ciphers = kCiphers;         ///< OpenSSL's cipher list for TLS 1.2
  std::string least_version = "TLSv1.2";  ///< or TLSv1.3
};

/// Certificate and key of the server, ready for connections. Thread-safe.
class TlsContext {
 public:
  /// F0000 if a file cannot be used, others can read the key, or no cipher is known.
  static Result<std::shared_ptr<const TlsContext>> load(const TlsOptions& options);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }
  /// Returns the value for tls-server-end-point binding: the hash of our certificate (RFC 5929).
  [[nodiscard]] const std::string& endpoint_hash() const noexcept { return endpoint_hash_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) noexcept : context_(context) {}
  Result<> compute_endpoint_hash();

  ssl_ctx_st* context_;
  std::string endpoint_hash_;
};

}  // namespace swizzle::server
