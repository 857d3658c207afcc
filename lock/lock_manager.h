#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "lock/lock_types.h"

namespace swizzle::lock {

class LockOwner;
struct LockManagerParts;

/// All locks of one database. Thread-safe. Owners ask for locks; see LockOwner.
class LockManager {
 public:
  explicit LockManager(LockOptions options = {});
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;
  /// Pre: no owner is left.
  ~LockManager();

  /// True if no owner holds a lock that excludes `mode`. For system transactions, which own no
  /// locks: before a ghost is removed (kWriteKeyAndGap), before a fence is put into a gap or taken
  /// out of one (kInsertIntoGap). Pre: the caller holds the leaf's exclusive latch, so that no new
  /// lock on the key can become valid meanwhile.
  [[nodiscard]] bool is_free(LockId id, KeyMode mode) const noexcept;

  /// Lists all locks held and waited for. Stops no owner: each row was true at some moment of the
  /// call.
  [[nodiscard]] std::vector<LockRow> snapshot() const;
  /// Returns the waiting requests only: looks at owners, not at locks.
  [[nodiscard]] std::vector<LockRow> waits() const;
  [[nodiscard]] LockStatistics statistics() const noexcept;
  /// How often each mode was waited for: those of keys and gaps, then those of tables.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> waits_by_mode() const;
  [[nodiscard]] const LockOptions& options() const noexcept;

 private:
  friend class LockOwner;
  std::unique_ptr<LockManagerParts> parts_;
};

}  // namespace swizzle::lock
