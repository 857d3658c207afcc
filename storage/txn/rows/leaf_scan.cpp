#include "storage/txn/rows/leaf_scan.h"

#include <algorithm>

#include "base/memory/swapped_out.h"
#include "base/sanitizers.h"
#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/rows/row_changes.h"

namespace swizzle {
namespace {

// Under AddressSanitizer every visit has memory of its own, so that the sanitizer finds a use of a
// key or value after its visit.
#ifdef SWIZZLE_ASAN
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

}  // namespace

std::array<std::unique_ptr<LeafScan::Memory>, 4>& LeafScan::spares() noexcept {
  thread_local std::array<std::unique_ptr<Memory>, 4> spares;
  return spares;
}

std::unique_ptr<LeafScan::Memory> LeafScan::take_memory() {
  if constexpr (kWatched) return std::make_unique_for_overwrite<Memory>();
  for (std::unique_ptr<Memory>& spare : spares())
    if (spare != nullptr) return std::move(spare);
  return std::make_unique_for_overwrite<Memory>();
}

LeafScan::LeafScan(TransactionState& transaction, TreeId tree, Which which)
    : transaction_(transaction), tree_(tree), which_(which), memory_(take_memory()) {}

LeafScan::~LeafScan() {
  if constexpr (kWatched) return;
  for (std::unique_ptr<Memory>& spare : spares()) {
    if (spare != nullptr) continue;
    spare = std::move(memory_);
    return;
  }
}

bool LeafScan::lock_key_and_gap(Bytes key) noexcept {
  const lock::LockId id{tree_, hash_of_key(tree_, key)};
  if (transaction_.versions.has_marks()) [[unlikely]] {
    const VersionIndex::Mark mark = transaction_.mark_of(tree_, key, id.hash, leaf().id());
    if (mark.excludes(lock::Access::shared)) {
      if (which_ == Which::newest_locked) blocked_by_ = mark.holder;
      return false;
    }
  }
  const bool no_gap = planted(PlantedFault::gap_lock_not_taken);
  if (transaction_.locks.try_acquire(id, no_gap ? lock::kReadKey : lock::kReadKeyAndGap))
    return true;
  if (which_ == Which::newest_locked) blocked_ = id;
  return false;
}

void LeafScan::visit(const Node& original, Node::Position at) noexcept {
  if constexpr (kWatched) memory_ = take_memory();
  memory_->rows.clear();
  memory_->ghosts.clear();
  memory_->older.clear();
  blocked_.reset();
  blocked_by_.reset();
  swapped_out_key_.reset();
  stopped_at_.reset();
  // A binary search assumes the prefix that all keys of the leaf share, so it works only for keys
  // within the fences. On the side that the scan comes from, the tree has searched already: `at`.
  const bool forward = direction_ == Direction::forward;
  const bool begins_here = low_ && compare(*low_, original.low_fence()) > 0;
  const bool ends_here = high_ && original.high_fence().is_above(*high_);
  Slots slots{0, original.count()};
  if (begins_here) slots.begin = forward ? at.index : original.lower_bound(*low_).index;
  if (ends_here) slots.end = forward ? original.lower_bound(*high_).index : at.index;
  slots.end = std::max(slots.begin, slots.end);
  const bool locks = which_ != Which::visible && transaction_.engine.options.locking;
  const bool is_all_visible =
      which_ != Which::visible || (view_ == TransactionState::TreeView::whole &&
                                   transaction_.is_all_visible(original.logical_lsn()));
  looked_up_ = !is_all_visible;
  const std::uint16_t whole_end = slots.end;
  const bool marks = which_ == Which::visible && transaction_.conflicts.marks(tree_);
  if (locks || marks || !is_all_visible) slots = shorten(slots);
  original.copy_part(slots.begin, slots.end, memory_->copy.page.data());
  const bool up_to_fence = slots.end == whole_end && !ends_here;
  if (locks) return take_locked(original, slots, up_to_fence);
  if (marks) [[unlikely]]
    mark(original, slots, up_to_fence);
  const Viewer viewer = transaction_.viewer(view_);
  for (std::uint16_t i = slots.begin; i < slots.end; ++i) {
    if (is_all_visible)
      add_newest(i);
    else if (is_swapped_out(i))
      return;
    else
      add_visible(i, viewer);
  }
  reads_back_ = 0;
}

/// Returns true if versions of the key must be paged in first. After some rounds it returns false
/// although they are paged out, since heavy writers may swap them out again and again: the scan
/// then reads them under the latch.
bool LeafScan::is_swapped_out(std::uint16_t slot) noexcept {
  constexpr unsigned kMost = 64;
  if (!swapped_out::any() || reads_back_ == kMost) [[likely]]
    return false;
  const std::uint64_t hash = hash_of_key(tree_, key_of_slot(slot));
  if (transaction_.engine.versions.first_swapped_out(hash, leaf().id()) == nullptr) return false;
  swapped_out_key_ = hash;
  ++reads_back_;
  return true;
}

/// Limits the slots to read at once where each record costs a version lookup or a lock.
LeafScan::Slots LeafScan::shorten(Slots wanted) noexcept {
  if (wanted.end - wanted.begin <= most_) return wanted;
  if (direction_ == Direction::forward) {
    wanted.end = static_cast<std::uint16_t>(wanted.begin + most_);
    stopped_at_ = static_cast<std::uint16_t>(wanted.end - 1);
  } else {
    wanted.begin = static_cast<std::uint16_t>(wanted.end - most_);
    stopped_at_ = wanted.begin;
  }
  return wanted;
}

void LeafScan::take_locked(const Node& original, Slots slots, bool up_to_fence) noexcept {
  // Locks the gap before the first record, by its left key or the low fence.
  const lock::LockId before = gap_before(tree_, original, slots.begin);
  if (!planted(PlantedFault::gap_lock_not_taken) &&
      !transaction_.locks.try_acquire(before, lock::kReadGap) && which_ == Which::newest_locked) {
    blocked_ = before;
    return;
  }
  const bool hides_own = transaction_.hides_own();
  for (std::uint16_t i = slots.begin; i < slots.end; ++i) {
    if (!lock_key_and_gap(key_of_slot(i))) {
      if (blocked_ || blocked_by_) return;
      continue;
    }
    if (hides_own)
      add_visible(i, transaction_.viewer_of_newest(view_));
    else
      add_newest(i);
  }
  // The gap after the last record up to the fence is locked by the last key. Keys that a later
  // split or merge puts at the fence are locked by the fence itself.
  if (up_to_fence && !original.high_fence().is_infinite())
    lock_key_and_gap(original.high_fence().key);
}

/// Marks what a serializable transaction reads here: the same keys and gaps that take_locked()
/// locks.
void LeafScan::mark(const Node& original, Slots slots, bool up_to_fence) noexcept {
  TransactionConflicts& conflicts = transaction_.conflicts;
  conflicts.read(gap_before(tree_, original, slots.begin), lock::ReadPart::gap);
  const auto mark_key_and_gap = [&](Bytes key) {
    conflicts.read({tree_, hash_of_key(tree_, key)}, lock::ReadPart::key_and_gap);
  };
  for (std::uint16_t i = slots.begin; i < slots.end; ++i) mark_key_and_gap(key_of_slot(i));
  if (up_to_fence && !original.high_fence().is_infinite())
    mark_key_and_gap(original.high_fence().key);
}

void LeafScan::add_newest(std::uint16_t slot) noexcept {
  if (leaf().is_ghost(slot))
    memory_->ghosts.push_back(slot);
  else
    memory_->rows.push_back({slot, leaf().is_overflow(slot), std::nullopt});
}

void LeafScan::add_visible(std::uint16_t slot, const Viewer& viewer) noexcept {
  const Bytes key = key_of_slot(slot);
  std::vector<std::byte>& older = memory_->older;
  const auto version = transaction_.engine.versions.find(
      tree_, key, hash_of_key(tree_, key), leaf().id(), viewer, [&](Bytes value, bool overflow) {
        const auto offset = static_cast<std::uint32_t>(older.size());
        older.insert(older.end(), value.begin(), value.end());
        memory_->rows.push_back(
            {slot, overflow, std::pair{offset, static_cast<std::uint32_t>(value.size())}});
      });
  if (version == VersionIndex::Version::current) add_newest(slot);
}

bool LeafScan::wants_tidying() noexcept {
  const bool is_mostly_ghosts = !stopped_at_ && leaf().ghost_count() * 2 > leaf().count();
  // Consumers of a queue scan the ghosts of earlier ones to find the first row. If a ghost in the
  // middle can be removed, so can the older ones.
  constexpr std::size_t kMany = 16;
  const std::vector<std::uint16_t>& ghosts = memory_->ghosts;
  if (ghosts.empty()) return is_mostly_ghosts;
  if (ghosts.size() < kMany && !is_mostly_ghosts) return false;
  const Bytes key = key_of_slot(ghosts[ghosts.size() / 2]);
  return !transaction_.engine.versions.has(tree_, key, hash_of_key(tree_, key), leaf().id());
}

Bytes LeafScan::value(std::size_t row) const noexcept {
  const Row& at = memory_->rows[row];
  if (at.older) return Bytes(memory_->older).subspan(at.older->first, at.older->second);
  return leaf().value(at.slot);
}

}  // namespace swizzle
