#include "server/session/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>

namespace swizzle::server {
namespace {

std::unexpected<Error> tls_failure(const std::string& what, const std::string& file) {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  ERR_clear_error();
  return fail(sqlstate::config_file_error, fmt::format("{} \"{}\": {}", what, file, reason.data()));
}

Result<> check_key_permissions(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return fail(sqlstate::config_file_error,
                fmt::format("could not access private key file \"{}\"", file));
  }
  // The group may read a key that root owns, as distributions install it.
  const mode_t forbidden = status.st_uid == 0 ? (S_IWGRP | S_IXGRP | S_IRWXO) : (S_IRWXG | S_IRWXO);
  if ((status.st_mode & forbidden) != 0) {
    return fail(Error{sqlstate::config_file_error,
                      fmt::format("private key file \"{}\" can be read by others", file)}
                    .with_hint("Its permissions should be u=rw (0600)."));
  }
  return {};
}

/// The protocol's name at IANA, with its length in front.
constexpr std::string_view kProtocol = "\x0Apostgresql";

/// A client that offers other protocols only talks to the wrong server: refuse the handshake, so
/// that another protocol's bytes are not taken for ours (RFC 7301, 3.2).
int choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  unsigned char* found = nullptr;
  const auto* ours = reinterpret_cast<const unsigned char*>(kProtocol.data());
  if (SSL_select_next_proto(&found, chosen_size, ours, kProtocol.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsOptions& options) {
  RETURN_IF_ERROR(check_key_permissions(options.key_file));
  std::shared_ptr<TlsContext> context{new TlsContext{SSL_CTX_new(TLS_server_method())}};
  SSL_CTX* native = context->context_;
  SSL_CTX_set_min_proto_version(
      native, options.least_version == "TLSv1.3" ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(native, options.ciphers.c_str()) != 1) {
    return tls_failure("could not set the cipher list", options.ciphers);
  }
  SSL_CTX_set_alpn_select_cb(native, &choose_protocol, nullptr);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                  SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  if (SSL_CTX_use_certificate_chain_file(native, options.certificate_file.c_str()) != 1) {
    return tls_failure("could not load server certificate file", options.certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(native, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(native) != 1) {
    return tls_failure("could not load private key file", options.key_file);
  }
  RETURN_IF_ERROR(context->compute_endpoint_hash());
  return std::shared_ptr<const TlsContext>{std::move(context)};
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

Result<> TlsContext::compute_endpoint_hash() {
  X509* certificate = SSL_CTX_get0_certificate(context_);
  int digest_nid = 0;
  // RFC 5929: the signature's own digest, but SHA-256 in place of MD5 and SHA-1; also if the
  // signature has none of its own (Ed25519).
  if (X509_get_signature_info(certificate, &digest_nid, nullptr, nullptr, nullptr) != 1 ||
      digest_nid == NID_undef || digest_nid == NID_md5 || digest_nid == NID_sha1) {
    digest_nid = NID_sha256;
  }
  const EVP_MD* digest = EVP_get_digestbynid(digest_nid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  if (digest == nullptr || X509_digest(certificate, digest, hash.data(), &size) != 1) {
    return fail(sqlstate::config_file_error, "could not hash the server certificate");
  }
  endpoint_hash_.assign(reinterpret_cast<const char*>(hash.data()), size);
  return {};
}

}  // namespace swizzle::server
