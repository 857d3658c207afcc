#include "lock/internal/latched_table.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/invariant.h"
#include "lock/internal/intents.h"

namespace swizzle::lock {
namespace {

Entry* newer(const Entry& entry) noexcept {
  return reinterpret_cast<Entry*>(entry.next.load(std::memory_order_relaxed));
}

void link(Entry& entry, Entry* newer_entry) noexcept {
  entry.next.store(reinterpret_cast<std::uintptr_t>(newer_entry), std::memory_order_relaxed);
}

EntryState state_of(const Entry& entry) noexcept {
  return entry.state.load(std::memory_order_acquire);  // what the owner wrote before it waited
}

}  // namespace

LatchedTable::LatchedTable(std::size_t buckets)
    : mask_(std::bit_ceil(buckets) - 1), buckets_(std::make_unique<Bucket[]>(mask_ + 1)) {}

LatchedTable::Bucket& LatchedTable::bucket_of(const LockName& name) noexcept {
  return buckets_[name.spread() & mask_];
}

template <class Visitor>
void LatchedTable::visit_blockers(const Bucket& bucket, const Entry& entry, Visitor visitor) {
  const LockName name = entry.name;
  ModeCode mine = intent::mode_in_slot(*entry.seat, name);
  for (const Entry* earlier = bucket.oldest; earlier != &entry; earlier = newer(*earlier)) {
    if (earlier == nullptr) return;  // `entry` has left the queue
    if (earlier->name != name) continue;
    const bool granted = state_of(*earlier) == EntryState::active;
    if (earlier->seat == entry.seat) {
      if (granted) mine = combine(mine, earlier->mode);
      continue;
    }
    if (!conflict(earlier->mode, entry.mode)) continue;
    if (!granted && conflict(mine, earlier->mode)) continue;  // it waits for us (rule L4)
    if (!visitor(*earlier)) return;
  }
}

bool LatchedTable::has_blocker(const Bucket& bucket, const Entry& entry) noexcept {
  bool found = false;
  visit_blockers(bucket, entry, [&found](const Entry&) {
    found = true;
    return false;
  });
  return found;
}

Appended LatchedTable::append(Entry& entry) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  link(entry, nullptr);
  const std::scoped_lock guard{bucket.latch};
  if (bucket.newest == nullptr) {
    bucket.oldest = &entry;
  } else {
    link(*bucket.newest, &entry);
  }
  bucket.newest = &entry;
  const bool granted = !has_blocker(bucket, entry);
  entry.state.store(granted ? state_when_granted(entry.mode) : EntryState::requested,
                    std::memory_order_relaxed);
  return {granted, bucket.tag};
}

bool LatchedTable::is_blocked(const Entry& entry) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  const std::scoped_lock guard{bucket.latch};
  return has_blocker(bucket, entry);
}

std::vector<Blocker> LatchedTable::blockers(const Entry& entry) {
  std::vector<Blocker> found;
  Bucket& bucket = bucket_of(entry.name);
  const std::scoped_lock guard{bucket.latch};
  visit_blockers(bucket, entry, [&found](const Entry& earlier) {
    found.push_back({earlier.seat, &earlier});
    return true;
  });
  return found;
}

void LatchedTable::remove(Entry& entry, Lsn commit_lsn) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  const std::scoped_lock guard{bucket.latch};
  if (may_write(entry.mode)) bucket.tag = std::max(bucket.tag, commit_lsn);
  entry.state.store(EntryState::obsolete, std::memory_order_relaxed);
  unlink(bucket, entry);
  wake_waiters(bucket, entry.name);
}

void LatchedTable::unlink(Bucket& bucket, Entry& entry) noexcept {
  Entry* previous = nullptr;
  Entry* current = bucket.oldest;
  while (current != &entry) {
    INVARIANT(current != nullptr);
    previous = current;
    current = newer(*current);
  }
  Entry* after = newer(entry);
  if (previous == nullptr) {
    bucket.oldest = after;
  } else {
    link(*previous, after);
  }
  if (after == nullptr) bucket.newest = previous;
}

void LatchedTable::wake_waiters(const LockName& name) noexcept {
  Bucket& bucket = bucket_of(name);
  const std::scoped_lock guard{bucket.latch};
  wake_waiters(bucket, name);
}

void LatchedTable::wake_waiters(Bucket& bucket, const LockName& name) noexcept {
  for (const Entry* entry = bucket.oldest; entry != nullptr; entry = newer(*entry)) {
    if (entry->name == name && state_of(*entry) == EntryState::waiting &&
        !has_blocker(bucket, *entry)) {
      entry->seat->wake();
    }
  }
}

bool LatchedTable::is_free(const LockName& name, ModeCode mode, const Seat* self) noexcept {
  Bucket& bucket = bucket_of(name);
  const std::scoped_lock guard{bucket.latch};
  for (const Entry* entry = bucket.oldest; entry != nullptr; entry = newer(*entry)) {
    if (entry->seat != self && conflict(entry->mode, mode) && entry->name == name &&
        state_of(*entry) != EntryState::waiting) {
      return false;
    }
  }
  return true;
}

bool LatchedTable::has_followers(const Entry& entry) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  const std::scoped_lock guard{bucket.latch};
  for (const Entry* later = newer(entry); later != nullptr; later = newer(*later)) {
    const EntryState state = state_of(*later);
    if (later->seat != entry.seat && later->name == entry.name &&
        (state == EntryState::requested || state == EntryState::waiting)) {
      return true;
    }
  }
  return false;
}

Lsn LatchedTable::tag(const LockName& name) noexcept {
  Bucket& bucket = bucket_of(name);
  const std::scoped_lock guard{bucket.latch};
  return bucket.tag;
}

void LatchedTable::visit(const std::function<void(const Entry&)>& visitor) {
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::scoped_lock guard{buckets_[i].latch};
    for (Entry* entry = buckets_[i].oldest; entry != nullptr; entry = newer(*entry)) {
      visitor(*entry);
    }
  }
}

}  // namespace swizzle::lock
