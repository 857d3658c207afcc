#include "lock/internal/raw_table.h"

#include <sys/mman.h>

#include <bit>
#include <new>

#include "base/invariant.h"
#include "base/memory/huge_pages.h"
#include "lock/internal/intents.h"
#include "lock/internal/pause_point.h"

namespace swizzle::lock {
namespace {

constexpr std::uintptr_t kMark = 1;

std::uintptr_t address(const Entry& entry) noexcept {
  return reinterpret_cast<std::uintptr_t>(&entry);
}

Entry* entry_at(std::uintptr_t link) noexcept {
  return reinterpret_cast<Entry*>(link & ~kMark);
}

// seq_cst, as every load of a link and of a state during a walk. It costs nothing on x86, and the
// proofs of "one sees the other" and of the epochs need the total order.
Entry* older(const Entry& entry) noexcept {
  return entry_at(entry.next.load(std::memory_order_seq_cst));
}

EntryState state_of(const Entry& entry) noexcept {
  return entry.state.load(std::memory_order_seq_cst);
}

// Relaxed: published by the release of the lock that follows (obsolete, or the unlinking).
void raise(std::atomic<std::uint64_t>& tag, Lsn lsn) noexcept {
  std::uint64_t seen = tag.load(std::memory_order_relaxed);
  while (seen < raw(lsn) && !tag.compare_exchange_weak(seen, raw(lsn), std::memory_order_relaxed)) {
  }
}

// True if `waiter` waits for a lock that `entry`'s owner holds and that is older than `waiter`. An
// intent in a slot is older: while a strong request exists, no intent gets into a slot.
bool waits_for_owner(const Entry& waiter, const Entry& entry) noexcept {
  if (conflict(intent::mode_in_slot(*entry.seat, entry.name), waiter.mode)) return true;
  if (entry.older_of_same_name == nullptr) return false;
  const LockName name = entry.name;
  for (const Entry* held = older(waiter); held != nullptr; held = older(*held)) {
    if (held->seat == entry.seat && held->name == name && conflict(held->mode, waiter.mode) &&
        state_of(*held) == EntryState::active) {
      return true;
    }
  }
  return false;
}

}  // namespace

void RawTable::Unmap::operator()(Bucket* buckets) const noexcept {
  ::munmap(buckets, bytes);
}

RawTable::RawTable(std::size_t buckets, ReaderEpochs& epochs)
    : mask_(std::bit_ceil(buckets) - 1), buckets_(nullptr, Unmap{0}), epochs_(epochs) {
  const std::size_t bytes = (mask_ + 1) * sizeof(Bucket);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  prefer_huge_pages(memory, bytes);
  // Null links and zero tags are zero bits.
  buckets_ = {static_cast<Bucket*>(memory), Unmap{bytes}};
}

RawTable::~RawTable() = default;

RawTable::Bucket& RawTable::bucket_of(const LockName& name) noexcept {
  return buckets_[name.spread() & mask_];
}

Appended RawTable::append(Entry& entry) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  entry.next.store(0, std::memory_order_relaxed);
  const EntryState granted = state_when_granted(entry.mode);
  entry.state.store(granted, std::memory_order_relaxed);
  std::uintptr_t newest = 0;
  if (bucket.newest.compare_exchange_strong(newest, address(entry), std::memory_order_seq_cst)) {
    // The exchange read the value of the last release, and the tag was raised before that.
    return {true, Lsn{bucket.tag.load(std::memory_order_relaxed)}};
  }
  entry.state.store(EntryState::requested, std::memory_order_relaxed);
  const auto reading = epochs_.enter(entry.seat->number);
  do {
    entry.next.store(newest, std::memory_order_relaxed);
    // Publishes the entry, before the reads of its predecessors.
  } while (!bucket.newest.compare_exchange_weak(newest, address(entry), std::memory_order_seq_cst));
  pause_point(PausePoint::after_append);
  if (has_blocker(entry)) return {false, Lsn::none};
  // Release is enough: for is_free(), `requested` counts as much as `active`.
  entry.state.store(granted, std::memory_order_release);
  return {true, Lsn{bucket.tag.load(std::memory_order_acquire)}};
}

bool RawTable::blocks(const Entry& earlier, const Entry& entry) noexcept {
  if (earlier.seat == entry.seat || !conflict(earlier.mode, entry.mode) ||
      earlier.name != entry.name) {
    return false;
  }
  pause_point(PausePoint::inside_walk);
  const EntryState state = state_of(earlier);
  if (state == EntryState::obsolete) return false;
  return state == EntryState::active || !waits_for_owner(earlier, entry);
}

bool RawTable::has_blocker(const Entry& entry) noexcept {
  for (const Entry* earlier = older(entry); earlier != nullptr; earlier = older(*earlier)) {
    if (blocks(*earlier, entry)) return true;
  }
  return false;
}

bool RawTable::is_blocked(const Entry& entry) noexcept {
  const auto reading = epochs_.enter(entry.seat->number);
  return has_blocker(entry);
}

std::vector<Blocker> RawTable::blockers(const Entry& entry) {
  std::vector<Blocker> found;
  const auto reading = epochs_.enter(entry.seat->number);
  for (const Entry* earlier = older(entry); earlier != nullptr; earlier = older(*earlier)) {
    if (blocks(*earlier, entry)) found.push_back({earlier->seat, earlier});
  }
  return found;
}

void RawTable::remove(Entry& entry, Lsn commit_lsn) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  if (commit_lsn != Lsn::none && may_write(entry.mode)) raise(bucket.tag, commit_lsn);
  if (entry.next.load(std::memory_order_relaxed) == 0) {
    // There is no older entry, since a link that became null stays null. If there is no newer entry
    // either, no owner waits for this one, and none can have read it as a predecessor without being
    // seen here.
    entry.state.store(EntryState::obsolete, std::memory_order_release);
    std::uintptr_t alone = address(entry);
    if (bucket.newest.compare_exchange_strong(alone, 0, std::memory_order_seq_cst)) return;
  }
  // Comes before the search for waiters. The release part publishes the tag.
  entry.state.store(EntryState::obsolete, std::memory_order_seq_cst);
  pause_point(PausePoint::after_obsolete);
  const auto reading = epochs_.enter(entry.seat->number);
  wake_later(bucket, entry.name, &entry);
  unlink(bucket, entry);
}

void RawTable::wake_waiters(const LockName& name) noexcept {
  const auto reading = epochs_.enter(static_cast<std::uint32_t>(name.hash()));
  wake_later(bucket_of(name), name, nullptr);
}

// Does not wake a waiter that another entry still blocks: that entry's owner wakes it at its
// release. Nor a request that does not wait yet: it checks again after it has said that it waits.
void RawTable::wake_later(Bucket& bucket, const LockName& name, const Entry* until) noexcept {
  const Entry* entry = entry_at(bucket.newest.load(std::memory_order_seq_cst));
  for (; entry != nullptr && entry != until; entry = older(*entry)) {
    if (entry->name == name && state_of(*entry) == EntryState::waiting && !has_blocker(*entry)) {
      entry->seat->wake();
    }
  }
}

void RawTable::unlink(Bucket& bucket, Entry& entry) noexcept {
  // From here on no entry is linked after this one, and every thread that meets it may unlink it.
  entry.next.fetch_or(kMark, std::memory_order_seq_cst);
  pause_point(PausePoint::after_mark);
  while (!try_unlink(bucket, entry)) {
  }
}

bool RawTable::try_unlink(Bucket& bucket, const Entry& entry) noexcept {
  std::atomic<std::uintptr_t>* link = &bucket.newest;
  std::uintptr_t at = link->load(std::memory_order_seq_cst);
  while (Entry* current = entry_at(at)) {
    const std::uintptr_t next = current->next.load(std::memory_order_seq_cst);
    if ((next & kMark) == 0) {
      link = &current->next;
      at = next;
      continue;
    }
    pause_point(PausePoint::before_unlink);
    // Fails if `link` itself was marked or changed; its entry may then have left the list.
    if (!link->compare_exchange_strong(at, next & ~kMark, std::memory_order_seq_cst)) return false;
    if (current == &entry) return true;
    at = next & ~kMark;
  }
  return true;  // another thread has unlinked it
}

bool RawTable::is_free(const LockName& name, ModeCode mode, const Seat* self) noexcept {
  Bucket& bucket = bucket_of(name);
  if (bucket.newest.load(std::memory_order_seq_cst) == 0) return true;
  const auto reading = epochs_.enter(static_cast<std::uint32_t>(name.hash()));
  const Entry* entry = entry_at(bucket.newest.load(std::memory_order_seq_cst));
  for (; entry != nullptr; entry = older(*entry)) {
    if (entry->seat == self || !conflict(entry->mode, mode) || entry->name != name) continue;
    const EntryState state = state_of(*entry);
    if (state == EntryState::active || state == EntryState::requested) return false;
  }
  return true;
}

bool RawTable::has_followers(const Entry& entry) noexcept {
  Bucket& bucket = bucket_of(entry.name);
  if (bucket.newest.load(std::memory_order_seq_cst) == address(entry)) return false;
  const auto reading = epochs_.enter(entry.seat->number);
  const Entry* later = entry_at(bucket.newest.load(std::memory_order_seq_cst));
  for (; later != nullptr && later != &entry; later = older(*later)) {
    if (later->seat == entry.seat || later->name != entry.name) continue;
    const EntryState state = state_of(*later);
    if (state == EntryState::requested || state == EntryState::waiting) return true;
  }
  return false;
}

Lsn RawTable::tag(const LockName& name) noexcept {
  return Lsn{bucket_of(name).tag.load(std::memory_order_acquire)};
}

void RawTable::visit(const std::function<void(const Entry&)>& visitor) {
  for (std::size_t i = 0; i <= mask_; ++i) {
    if (buckets_[i].newest.load(std::memory_order_relaxed) == 0) continue;
    // One bucket at a time, so that the walk does not delay the reuse of entries for long.
    const auto reading = epochs_.enter(static_cast<std::uint32_t>(i));
    const Entry* entry = entry_at(buckets_[i].newest.load(std::memory_order_seq_cst));
    for (; entry != nullptr; entry = older(*entry)) visitor(*entry);
  }
}

}  // namespace swizzle::lock
