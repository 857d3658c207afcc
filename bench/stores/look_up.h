#pragma once

#include <array>

#include "base/invariant.h"
#include "bench/load.h"
#include "bench/workload.h"

namespace swizzle::bench {

inline constexpr std::uint64_t kBatch = 256;

/// The loop of every system in lookup experiments: `pick()` chooses a key number, `get(number,
/// buffer)` copies the value and returns its size, which is checked.
template <class Pick, class Get>
void look_up(Worker& worker, RecordShape shape, std::uint64_t batch, Pick pick, Get get) {
  std::array<std::byte, kMaxRecordBytes> buffer;
  while (worker.running()) {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < batch; ++i) {
      const std::uint64_t number = pick();
      const std::size_t size = get(number, MutableBytes{buffer});
      wrong += size == shape.value_bytes && belongs_to({buffer.data(), size}, number) ? 0U : 1U;
    }
    INVARIANT(wrong == 0);
    worker.did(batch);
  }
}

}  // namespace swizzle::bench
