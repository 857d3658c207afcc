#pragma once

#include <cstdint>

namespace swizzle::lock {

/// Number of a serializable transaction that reads a snapshot; 0: none.
enum class SerialId : std::uint64_t { none = 0 };

}  // namespace swizzle::lock
