#pragma once

#include <memory>
#include <string>

#include "base/result.h"

// OpenSSL's own name for a context.
struct ssl_ctx_st;

namespace swizzle::server {

/// The server's certificate and key, ready for connections. TLS 1.2 and later. Thread-safe.
class TlsContext {
 public:
  /// F0000 when a file cannot be used, or the key can be read by others.
  static Result<std::shared_ptr<const TlsContext>> load(const std::string& certificate_file,
                                                        const std::string& key_file);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_; }
  /// What tls-server-end-point binds to: the hash of our certificate (RFC 5929).
  [[nodiscard]] const std::string& endpoint_hash() const noexcept { return endpoint_hash_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) noexcept : context_(context) {}
  Result<> compute_endpoint_hash();

  ssl_ctx_st* context_;
  std::string endpoint_hash_;
};

}  // namespace swizzle::server
