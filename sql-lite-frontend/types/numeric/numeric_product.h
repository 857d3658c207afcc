#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace swizzle::sql {

/// The sums of products that make a product of two numbers, before carrying:
/// out[i + j] += left[i] * right[j]; as many as both have digits, less one.
///
/// In time n log n: a number theoretic transform over the integers modulo 2^64 - 2^32 + 1, where
/// the sums are exact since they are far below that. Pre: both have digits, each below 10000.
std::vector<std::uint64_t> convolve(std::span<const std::uint16_t> left,
                                    std::span<const std::uint16_t> right);

/// Number of digits of the shorter number from which on it is faster than schoolbook
/// multiplication.
inline constexpr std::size_t kWorthTransforming = 256;

}  // namespace swizzle::sql
