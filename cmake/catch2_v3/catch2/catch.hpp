#pragma once

// Catch2's version 3 under the names of version 2, which Debian 12 has. Found before the library's
// own headers where those are of version 3 (cmake/swizzle_library.cmake).
#include <catch2/catch_all.hpp>
#include <cstdint>
#include <string>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::StartsWith;

inline auto Contains(const std::string& text) {
  return Matchers::ContainsSubstring(text);
}

inline std::uint32_t rngSeed() {
  return Generators::Detail::getSeed();
}

}  // namespace Catch
