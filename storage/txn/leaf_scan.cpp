#include "storage/txn/leaf_scan.h"

#include <cstring>

#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/row_changes.h"

namespace swizzle {

bool LeafScan::lock_key_and_gap(Bytes key) noexcept {
  const lock::LockId id{tree_, hash_of_key(tree_, key)};
  const bool no_gap = planted(PlantedFault::gap_lock_not_taken);
  if (transaction_.locks.try_acquire(id, no_gap ? lock::kReadKey : lock::kReadKeyAndGap))
    return true;
  blocked_ = id;
  return false;
}

void LeafScan::visit(const Node& original, Node::Position /*at*/) noexcept {
  rows_.clear();
  older_.clear();
  blocked_.reset();
  stopped_at_.reset();
  std::memcpy(copy_->page.data(), &original, kPageBytes);
  const Node& node = leaf();
  // A search assumes the prefix that all keys of the leaf share, so it is only for keys within the
  // fences; backward the range may begin leaves below.
  const bool begins_here = low_ && compare(*low_, node.low_fence()) > 0;
  std::uint16_t begin = begins_here ? node.lower_bound(*low_).index : std::uint16_t{0};
  const bool ends_here = high_ && node.high_fence().is_above(*high_);
  std::uint16_t end = ends_here ? node.lower_bound(*high_).index : node.count();
  end = std::max(begin, end);
  const bool locks = which_ == Which::newest_locked && transaction_.engine.options.locking;
  const bool quiet = which_ != Which::visible || transaction_.is_quiet(node.logical_lsn());
  looked_up_ = !quiet;
  if (quiet && !locks) {
    for (std::uint16_t i = begin; i < end; ++i)
      if (!node.is_ghost(i)) rows_.push_back({i, node.is_overflow(i), std::nullopt});
    return;
  }
  const std::uint16_t whole_end = end;
  if (end - begin > most_) {
    if (direction_ == Direction::forward) {
      end = static_cast<std::uint16_t>(begin + most_);
      stopped_at_ = static_cast<std::uint16_t>(end - 1);
    } else {
      begin = static_cast<std::uint16_t>(end - most_);
      stopped_at_ = begin;
    }
  }
  if (locks)
    take_locked(begin, end, end == whole_end && !ends_here);
  else
    for (std::uint16_t i = begin; i < end; ++i)
      add_visible(i, {key_.data(), node.copy_key(i, key_.data())});
}

void LeafScan::take_locked(std::uint16_t begin, std::uint16_t end, bool up_to_fence) noexcept {
  const Node& node = leaf();
  // The gap before the first record, by its left key or the low fence.
  const lock::LockId before = gap_before(tree_, node, begin);
  if (!planted(PlantedFault::gap_lock_not_taken) &&
      !transaction_.locks.try_acquire(before, lock::kReadGap)) {
    blocked_ = before;
    return;
  }
  for (std::uint16_t i = begin; i < end; ++i) {
    if (!lock_key_and_gap({key_.data(), node.copy_key(i, key_.data())})) return;
    if (!node.is_ghost(i)) rows_.push_back({i, node.is_overflow(i), std::nullopt});
  }
  // What lies behind the last record up to the fence is locked by the last key; what a later split
  // or merge puts at the fence is locked by the fence itself.
  if (up_to_fence && !node.high_fence().is_infinite()) lock_key_and_gap(node.high_fence().key);
}

void LeafScan::add_visible(std::uint16_t slot, Bytes key) noexcept {
  const Node& node = leaf();
  const auto version = transaction_.engine.versions.find(
      tree_, key, hash_of_key(tree_, key), transaction_.viewer(), [&](Bytes value, bool overflow) {
        const auto offset = static_cast<std::uint32_t>(older_.size());
        older_.insert(older_.end(), value.begin(), value.end());
        rows_.push_back(
            {slot, overflow, std::pair{offset, static_cast<std::uint32_t>(value.size())}});
      });
  if (version == VersionIndex::Version::current && !node.is_ghost(slot))
    rows_.push_back({slot, node.is_overflow(slot), std::nullopt});
}

Bytes LeafScan::key(std::size_t row) noexcept {
  return {key_.data(), leaf().copy_key(rows_[row].slot, key_.data())};
}

Bytes LeafScan::value(std::size_t row) const noexcept {
  const Row& at = rows_[row];
  if (at.older) return Bytes(older_).subspan(at.older->first, at.older->second);
  return leaf().value(at.slot);
}

}  // namespace swizzle
