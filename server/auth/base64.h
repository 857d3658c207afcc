#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace swizzle::server {

/// RFC 4648 with padding.
[[nodiscard]] std::string encode_base64(Bytes bytes);
/// Returns nothing unless `text` is exactly what encode_base64 writes: no blanks, no missing
/// padding, no stray bits.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace swizzle::server
