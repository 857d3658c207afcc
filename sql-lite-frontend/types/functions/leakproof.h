#pragma once

#include <cstdint>

namespace swizzle::sql {

/// Whether PostgreSQL calls the built-in function leakproof: it tells nothing of its arguments but
/// by its result, neither by an error nor otherwise.
bool is_leakproof(std::uint32_t function) noexcept;

}  // namespace swizzle::sql
