#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace swizzle::server {

/// Reads a small file. 58P01 or 58030.
Result<std::string> read_text_file(const std::string& path);
/// Replaces the file, durably, with mode 0600.
Result<> write_text_file(const std::string& path, std::string_view text);

}  // namespace swizzle::server
