#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lock/lock_types.h"

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

  /// The latched table is for comparison.
  lock::LockVariant lock_variant = lock::LockVariant::raw;
  /// A SERIALIZABLE transaction that has read this many keys of one tree asks for a lock on the
  /// whole tree instead. 0: never.
  std::uint32_t lock_escalation_threshold = 100'000;
  /// Old versions that are kept for snapshots. Beyond it the oldest snapshots fail with 72000,
  /// never the writers.
  std::uint64_t version_store_bytes = std::uint64_t{1} << 30U;

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
