#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lock/internal/entry_pool.h"
#include "lock/internal/intents.h"
#include "lock/internal/lock_table.h"
#include "lock/internal/mode_code.h"
#include "lock/internal/reader_epochs.h"
#include "lock/internal/seat.h"
#include "lock/lock_types.h"

namespace swizzle::lock {

/// State that all owners of one manager share.
struct LockManagerParts {
  explicit LockManagerParts(LockOptions with);

  const LockOptions options;
  ReaderEpochs epochs;
  EntryPool pool;
  SeatRegistry seats;
  StrongRequests strong;
  std::unique_ptr<LockTable> table;

  struct Counters {
    std::atomic<std::uint64_t> waits{0};
    std::array<std::atomic<std::uint64_t>, kModeCodes> waits_by_mode{};
    std::atomic<std::uint64_t> deadlocks{0};
    std::atomic<std::uint64_t> timeouts{0};
    std::atomic<std::uint64_t> cancellations{0};
    std::atomic<std::uint64_t> escalations{0};
  };
  alignas(64) Counters counters;
  std::atomic<std::uint32_t> owners{0};

  /// LockTable::is_blocked(), and for strong requests also the intents in slots, which it marks as
  /// wanted.
  [[nodiscard]] bool is_blocked(const Entry& entry) noexcept;
  [[nodiscard]] bool intents_block(const Entry& entry) noexcept;
  [[nodiscard]] std::vector<Blocker> blockers(const Entry& entry);

  /// The highest commit LSN under which any owner has released locks.
  [[nodiscard]] Lsn last_released() const noexcept;
};

}  // namespace swizzle::lock
