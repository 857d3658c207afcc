#pragma once

#include <functional>
#include <vector>

#include "base/ids.h"
#include "lock/internal/entry.h"
#include "lock/internal/seat.h"

namespace swizzle::lock {

/// The outcome of a request. `tag` is the highest commit LSN under which a writer released a lock
/// of this bucket; it is valid only if the request was granted.
struct Appended {
  bool granted;
  Lsn tag;
};

/// An owner that blocks a request: by an entry, or (null entry) by an intent in its slot.
struct Blocker {
  Seat* seat;
  const Entry* entry;

  friend bool operator==(const Blocker&, const Blocker&) = default;
};

/// State of a granted request. A strong request must not look granted before intents have been
/// checked: an upgrade of one of those intents may overtake a waiter, not a holder.
constexpr EntryState state_when_granted(ModeCode mode) noexcept {
  return is_strong(mode) ? EntryState::requested : EntryState::active;
}

/// Table of lock requests: the RAW lists, or a latched hash table for comparison. All requests for
/// one name have a total order; an earlier one that is not obsolete and conflicts blocks a later
/// one, be it granted or waiting (first come, first served), with one exception (rule L4): a waiter
/// that itself waits for a lock of the requester does not block it.
///
/// Thread-safe. Nothing here parks.
class LockTable {
 public:
  LockTable() = default;
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;
  virtual ~LockTable() = default;

  /// Prefetches the memory that append() will read for `name`.
  virtual void prefetch(const LockName& name) const noexcept = 0;
  /// Second step, some time after prefetch(): prefetches the entries that the bucket refers to.
  virtual void prefetch_entries(const LockName& name) const noexcept = 0;

  /// Publishes `entry`. Granted: it is active, unless it is strong; then its owner has yet to check
  /// the intents in slots. Otherwise it stays `requested`, and the owner either waits for it or
  /// removes it.
  virtual Appended append(Entry& entry) noexcept = 0;

  /// True if an earlier entry blocks this one. Callable by every thread that is inside an epoch.
  [[nodiscard]] virtual bool is_blocked(const Entry& entry) noexcept = 0;
  [[nodiscard]] virtual std::vector<Blocker> blockers(const Entry& entry) = 0;

  /// Removes `entry` and wakes the waiters that are no longer blocked. If the mode allowed writing,
  /// leaves the commit LSN, unless it is none, for the next holders.
  virtual void remove(Entry& entry, Lsn commit_lsn) noexcept = 0;
  /// Wakes the waiters for `name` that are no longer blocked.
  virtual void wake_waiters(const LockName& name) noexcept = 0;

  /// True if `mode` could be granted now to an owner that holds the locks of `self`. Takes no lock.
  /// Ignores waiters, but counts requests that are not decided yet.
  [[nodiscard]] virtual bool is_free(const LockName& name, ModeCode mode,
                                     const Seat* self) noexcept = 0;
  /// True if a later request of another owner for the same name is not granted yet.
  [[nodiscard]] virtual bool has_followers(const Entry& entry) noexcept = 0;

  [[nodiscard]] virtual Lsn tag(const LockName& name) noexcept = 0;

  /// Visits each entry that is linked during the whole call once, and others perhaps.
  virtual void visit(const std::function<void(const Entry&)>& visitor) = 0;
};

}  // namespace swizzle::lock
