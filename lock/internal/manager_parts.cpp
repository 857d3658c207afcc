#include "lock/internal/manager_parts.h"

#include <algorithm>

#include "base/invariant.h"
#include "lock/internal/latched_table.h"
#include "lock/internal/pause_point.h"
#include "lock/internal/raw_table.h"

namespace swizzle::lock {
namespace {

std::unique_ptr<LockTable> make_table(const LockOptions& options, ReaderEpochs& epochs) {
  INVARIANT(options.buckets > 0);
  switch (options.variant) {
    case LockVariant::raw:
      return std::make_unique<RawTable>(options.buckets, epochs);
    case LockVariant::latched:
      return std::make_unique<LatchedTable>(options.buckets);
    case LockVariant::off:
      break;
  }
  return nullptr;
}

// Returns true if the slot holds an intent that excludes `entry`. If so, marks the slot, so that
// its owner wakes the waiters when it clears the slot.
bool excludes(std::atomic<IntentSlot>& slot, const Entry& entry) noexcept {
  IntentSlot seen = slot.load(std::memory_order_seq_cst);
  while (intent::is_for(seen, entry.name) &&
         !compatible(intent::mode_of(seen), table_mode(entry.mode))) {
    if ((seen & intent::kWanted) != 0 ||
        slot.compare_exchange_weak(seen, seen | intent::kWanted, std::memory_order_seq_cst)) {
      return true;
    }
  }
  return false;
}

bool excludes(Seat& seat, const Entry& entry) noexcept {
  return &seat != entry.seat &&
         std::ranges::any_of(seat.intents, [&entry](auto& slot) { return excludes(slot, entry); });
}

}  // namespace

LockManagerParts::LockManagerParts(LockOptions with)
    : options(std::move(with)),
      pool(epochs, options.entries_per_generation),
      table(make_table(options, epochs)) {}

bool LockManagerParts::is_blocked(const Entry& entry) noexcept {
  if (!is_strong(entry.mode)) return table->is_blocked(entry);
  // Intents first: each slot that blocks must be marked as waited for, even if another entry blocks
  // as well.
  return intents_block(entry) || table->is_blocked(entry);
}

// Visits all seats, also after the first that blocks, to mark their slots.
bool LockManagerParts::intents_block(const Entry& entry) noexcept {
  bool blocked = false;
  for (std::uint32_t number = 0; number < seats.size(); ++number) {
    if (excludes(seats[number], entry)) blocked = true;
  }
  return blocked;
}

std::vector<Blocker> LockManagerParts::blockers(const Entry& entry) {
  std::vector<Blocker> found = table->blockers(entry);
  if (!is_strong(entry.mode)) return found;
  for (std::uint32_t number = 0; number < seats.size(); ++number) {
    if (excludes(seats[number], entry)) found.push_back({&seats[number], nullptr});
  }
  return found;
}

Lsn LockManagerParts::last_released() const noexcept {
  std::uint64_t highest = 0;
  for (std::uint32_t number = 0; number < seats.size(); ++number) {
    // Acquire: pairs with the release of the slot or entry, which came after this store.
    highest = std::max(highest, seats[number].last_released.load(std::memory_order_acquire));
  }
  return Lsn{highest};
}

}  // namespace swizzle::lock
