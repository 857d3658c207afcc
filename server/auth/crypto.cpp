#include "server/auth/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/invariant.h"

namespace swizzle::server {
namespace {

const unsigned char* raw_bytes(Bytes bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw_bytes(MutableBytes bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

}  // namespace

Digest sha256(Bytes data) {
  Digest digest;
  SHA256(raw_bytes(data), data.size(), raw_bytes(MutableBytes{digest}));
  return digest;
}

Digest hmac_sha256(Bytes key, Bytes data) {
  Digest digest;
  const unsigned char* result =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw_bytes(data), data.size(),
           raw_bytes(MutableBytes{digest}), nullptr);
  INVARIANT(result != nullptr);
  return digest;
}

Digest pbkdf2_sha256(std::string_view password, Bytes salt, std::uint32_t iterations) {
  Digest digest;
  const int done =
      PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), raw_bytes(salt),
                        static_cast<int>(salt.size()), static_cast<int>(iterations), EVP_sha256(),
                        static_cast<int>(digest.size()), raw_bytes(MutableBytes{digest}));
  INVARIANT(done == 1);
  return digest;
}

bool equal_in_constant_time(Bytes a, Bytes b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(MutableBytes bytes) {
  // Predictable keys would be worse than no server, so a failure ends the process.
  const int done = RAND_bytes(raw_bytes(bytes), static_cast<int>(bytes.size()));
  INVARIANT(done == 1);
}

}  // namespace swizzle::server
