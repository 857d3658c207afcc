#pragma once

#include <string>

#include "base/bytes.h"

/// OpenSSL's EVP_MD.
struct evp_md_st;

namespace swizzle::sql {

// Hashes of any length of bytes, piece by piece, so that others run meanwhile and it can be ended.

/// Throws SqlError XX000 where the library cannot compute it.
std::string digest_of(const evp_md_st* kind, Bytes bytes);
/// The keyed one.
std::string hmac_of(const evp_md_st* kind, Bytes key, Bytes bytes);

}  // namespace swizzle::sql
