#pragma once

#include <string_view>

namespace swizzle {

/// Returns the version of this project, as `--version` prints it.
std::string_view swizzle_version() noexcept;

}  // namespace swizzle
