#include "sql-lite-frontend/types/functions/text/digests.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Output = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string text_of(const Output& out, std::size_t size) {
  return {reinterpret_cast<const char*>(out.data()), size};
}

[[noreturn]] void fail() {
  throw SqlError{sqlstate::internal_error, "could not compute a hash"};
}

/// Calls `update` for each piece; returns false as soon as a call does.
template <class Update>
bool in_pieces(Bytes bytes, const Update& update) {
  constexpr std::size_t kPieceBytes = std::size_t{32} << 10U;
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    if (!update(reinterpret_cast<const unsigned char*>(piece.data()), piece.size())) return false;
    // A digest takes about a nanosecond for each few bytes.
    yield_point(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

}  // namespace

std::string digest_of(const EVP_MD* kind, Bytes bytes) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state{EVP_MD_CTX_new(),
                                                                      &EVP_MD_CTX_free};
  if (kind == nullptr || !state || EVP_DigestInit_ex(state.get(), kind, nullptr) != 1) fail();
  Output out{};
  unsigned int size = 0;
  const bool is_read = in_pieces(bytes, [&](const unsigned char* piece, std::size_t length) {
    return EVP_DigestUpdate(state.get(), piece, length) == 1;
  });
  if (!is_read || EVP_DigestFinal_ex(state.get(), out.data(), &size) != 1) fail();
  return text_of(out, size);
}

std::string hmac_of(const EVP_MD* kind, Bytes key, Bytes bytes) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> method{
      EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free};
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> state{
      method ? EVP_MAC_CTX_new(method.get()) : nullptr, &EVP_MAC_CTX_free};
  if (kind == nullptr || !state) fail();
  std::string name = EVP_MD_get0_name(kind);
  const std::array parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), name.size()),
      OSSL_PARAM_construct_end()};
  // An empty key is valid, but OpenSSL takes a null pointer for "no key".
  constexpr unsigned char kNothing = 0;
  const auto* const key_at =
      key.empty() ? &kNothing : reinterpret_cast<const unsigned char*>(key.data());
  if (EVP_MAC_init(state.get(), key_at, key.size(), parameters.data()) != 1) fail();
  Output out{};
  std::size_t size = 0;
  const bool is_read = in_pieces(bytes, [&](const unsigned char* piece, std::size_t length) {
    return EVP_MAC_update(state.get(), piece, length) == 1;
  });
  if (!is_read || EVP_MAC_final(state.get(), out.data(), &size, out.size()) != 1) fail();
  return text_of(out, size);
}

}  // namespace swizzle::sql
