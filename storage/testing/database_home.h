#pragma once

#include <filesystem>

namespace swizzle::test {

/// Where tests keep a database on a simulated disk.
inline const std::filesystem::path kHome = "/database";

}  // namespace swizzle::test
