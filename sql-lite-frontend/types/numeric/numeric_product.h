#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace swizzle::sql {

/// Returns the sums of products that make the product of two numbers, before carrying: out[i + j]
/// += left[i] * right[j]. Their number is the sum of both lengths less one.
///
/// Runs in O(n log n): a number theoretic transform over the integers modulo 2^64 - 2^32 + 1. The
/// results are exact, because the sums are far below the modulus. Pre: both have digits, each below
/// 10000.
std::vector<std::uint64_t> convolve(std::span<const std::uint16_t> left,
                                    std::span<const std::uint16_t> right);

/// Length of the shorter number from which on it is faster than schoolbook multiplication.
inline constexpr std::size_t kWorthTransforming = 256;

}  // namespace swizzle::sql
