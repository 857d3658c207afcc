#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace swizzle {

enum class PoolMode : std::uint8_t {
  swizzling,    ///< references become addresses while their page is in memory
  traditional,  ///< hash lookup and pin on every access: the papers' baseline
  main_memory,  ///< no pool at all: data that does not fit is refused
};

enum class Replacement : std::uint8_t {
  clock_sweep,  ///< generalised clock with a hierarchical unswizzling sweep
  random,
  gclock,  ///< generalised clock over all frames, counter limit `gclock_limit`
  car,
  lru,
  cooling_fifo,  ///< a share of the pages, `cooling_percent`, waits unswizzled in a queue
};

struct EngineOptions {
  std::uint64_t pool_bytes = std::uint64_t{1} << 30U;
  PoolMode pool_mode = PoolMode::swizzling;
  Replacement replacement = Replacement::clock_sweep;
  std::uint32_t gclock_limit = 8;
  std::uint32_t cooling_percent = 10;

  /// Off: nothing survives a crash. For experiments; refused for a directory created with it on.
  bool logging = true;
  /// Off: concurrent transactions must not touch the same keys. For experiments.
  bool locking = true;

  std::uint64_t log_segment_bytes = std::uint64_t{64} << 20U;
  std::uint64_t log_buffer_bytes = std::uint64_t{64} << 20U;
  std::uint64_t checkpoint_log_bytes = std::uint64_t{1} << 30U;
  std::uint32_t checkpoint_seconds = 300;
};

struct RecoveryProgress {
  std::string phase;  ///< analysis, redo or undo
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};
using RecoveryObserver = std::function<void(const RecoveryProgress&)>;

}  // namespace swizzle
