#pragma once

#include <atomic>

namespace swizzle {

/// The steps of taking a snapshot and of becoming a writer between which other threads may run
/// (P35). Tests yield there; compiled in with the planted faults only.
#ifdef SWIZZLE_PLANTED_FAULTS
using SnapshotPause = void (*)();
inline std::atomic<SnapshotPause> snapshot_pause_hook{nullptr};
inline void snapshot_pause() {
  if (const SnapshotPause hook = snapshot_pause_hook.load(std::memory_order_acquire)) hook();
}
#else
constexpr void snapshot_pause() noexcept {}
#endif

}  // namespace swizzle
