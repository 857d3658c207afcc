#include "bench/experiments/all.h"

#include <array>

namespace swizzle::bench {

std::span<const Experiment> experiments() noexcept {
  static constexpr std::array kAll{
      Experiment{"L0", "point lookups against LMDB and absl::btree_map", run_l0},
      Experiment{"I0", "random inserts against absl::btree_map behind a mutex", run_i0},
  };
  return kAll;
}

}  // namespace swizzle::bench
