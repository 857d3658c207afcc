#include "bench/workload.h"

#include <algorithm>
#include <bit>

namespace swizzle::bench {

Permutation::Permutation(std::uint64_t count, std::uint64_t seed) noexcept
    : count_(count), half_bits_(0), mask_(0) {
  const auto bits = static_cast<unsigned>(std::bit_width(count > 1 ? count - 1 : 1));
  half_bits_ = std::max(1U, (bits + 1) / 2);
  mask_ = (std::uint64_t{1} << half_bits_) - 1;
  for (std::uint64_t& key : keys_) key = split_mix(seed);
}

}  // namespace swizzle::bench
