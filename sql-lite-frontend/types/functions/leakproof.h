#pragma once

#include <cstdint>

namespace swizzle::sql {

/// True if the built-in function is leakproof in PostgreSQL: it reveals nothing of its arguments
/// but its result, neither by an error nor otherwise.
bool is_leakproof(std::uint32_t function) noexcept;

}  // namespace swizzle::sql
