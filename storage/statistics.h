#pragma once

#include <cstdint>

namespace swizzle {

/// Counters since the engine opened. Summed from per-thread counters, so each is exact at rest and
/// slightly old under load.
struct EngineStatistics {
  std::uint64_t pool_frames = 0;
  std::uint64_t pool_free_frames = 0;
  std::uint64_t pages_allocated = 0;
  std::uint64_t pages_read = 0;
  std::uint64_t pages_written = 0;
  std::uint64_t pages_evicted = 0;
  std::uint64_t pages_swizzled = 0;
  std::uint64_t pages_unswizzled = 0;
  std::uint64_t log_tail = 0;
  std::uint64_t log_durable = 0;
  std::uint64_t commits = 0;
  std::uint64_t rollbacks = 0;
  std::uint64_t version_bytes = 0;      ///< old versions kept for snapshots, at present
  std::uint64_t snapshots_too_old = 0;  ///< that were given up so that the store keeps its bound
  std::uint64_t lock_waits = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t lock_timeouts = 0;
  std::uint64_t lock_escalations = 0;
  std::uint64_t lock_bytes = 0;
};

}  // namespace swizzle
