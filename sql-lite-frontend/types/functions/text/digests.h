#pragma once

#include <string>

#include "base/bytes.h"

/// OpenSSL's EVP_MD.
struct evp_md_st;

namespace swizzle::sql {

// Hashes of byte strings of any length, computed in pieces, so that other fibers run in between and
// the statement can be cancelled.

/// Throws SqlError XX000 if the library cannot compute the hash.
std::string digest_of(const evp_md_st* kind, Bytes bytes);
/// The same with a key.
std::string hmac_of(const evp_md_st* kind, Bytes key, Bytes bytes);

}  // namespace swizzle::sql
