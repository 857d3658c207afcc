#pragma once

#include <filesystem>

namespace swizzle::test {

/// Directory of the tests' database on a simulated disk.
inline const std::filesystem::path kHome = "/database";

}  // namespace swizzle::test
