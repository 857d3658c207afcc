#pragma once

#include "base/bytes.h"

namespace swizzle::server {

/// Whether `bytes` are UTF-8 as Unicode defines it: no overlong forms, surrogates or code points
/// beyond U+10FFFF, no sequence cut short, and no NUL, which PostgreSQL's text cannot hold.
[[nodiscard]] bool is_valid_text(Bytes bytes) noexcept;

}  // namespace swizzle::server
