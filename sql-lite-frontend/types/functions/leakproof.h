#pragma once

#include <cstdint>

namespace swizzle::sql {

/// True if the built-in function is leakproof in PostgreSQL: it reveals nothing about its arguments
/// except by its result, in particular not by errors.
bool is_leakproof(std::uint32_t function) noexcept;

}  // namespace swizzle::sql
