#pragma once

#include <string_view>

namespace swizzle::server {

/// Returns a file of the console's page by its path, such as "/console.css"; empty if there is
/// none.
[[nodiscard]] std::string_view page_file(std::string_view path) noexcept;

}  // namespace swizzle::server
