#include "storage/space/written_lsns.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace swizzle {
namespace {

thread_local bool may_not_read_blocks = false;

}  // namespace

WrittenLsns::NoReading::NoReading() noexcept {
  may_not_read_blocks = true;
}

WrittenLsns::NoReading::~NoReading() {
  may_not_read_blocks = false;
}

WrittenLsns::Entry* WrittenLsns::find_or_make(Shard& shard, std::uint64_t number) const noexcept {
  try {
    auto& entry = shard.blocks[number];
    if (entry == nullptr) {
      entry = std::make_unique<Entry>();
      // Without a file there is nothing to add.
      entry->is_loaded = source_ == nullptr;
      blocks_.fetch_add(1, std::memory_order_relaxed);
    }
    return entry.get();
  } catch (const std::bad_alloc&) {
    const auto empty = shard.blocks.find(number);
    if (empty != shard.blocks.end() && empty->second == nullptr) shard.blocks.erase(empty);
    return nullptr;
  }
}

void WrittenLsns::note(PageId page, Lsn lsn) noexcept {
  const std::uint64_t number = raw(page) / kBlockPages;
  Shard& shard = shard_of(number);
  const std::lock_guard hold(shard.mutex);
  Entry* const entry = find_or_make(shard, number);
  if (entry == nullptr) return;
  Lsn& known = entry->lsns[raw(page) % kBlockPages];
  // LSNs only grow, and a write of the old copy must not make a given up page valid. For a block
  // that is not loaded yet the greater one is taken when it is.
  if (lsn <= known) return;
  known = lsn;
  entry->is_changed = true;
}

Lsn WrittenLsns::in_memory(PageId page) const noexcept {
  const std::uint64_t number = raw(page) / kBlockPages;
  Shard& shard = shard_of(number);
  const std::lock_guard hold(shard.mutex);
  const auto found = shard.blocks.find(number);
  return found == shard.blocks.end() ? Lsn::none : found->second->lsns[raw(page) % kBlockPages];
}

Lsn WrittenLsns::of(PageId page) const noexcept {
  const std::uint64_t number = raw(page) / kBlockPages;
  const std::size_t at = raw(page) % kBlockPages;
  {
    Shard& shard = shard_of(number);
    const std::lock_guard hold(shard.mutex);
    const auto found = shard.blocks.find(number);
    if (found != shard.blocks.end() && found->second->is_loaded) {
      found->second->was_used = true;
      return found->second->lsns[at];
    }
    if (source_ == nullptr) return Lsn::none;
  }
  return may_not_read_blocks ? Lsn::max : read(number, at);
}

Lsn WrittenLsns::read(std::uint64_t number, std::size_t at) const noexcept {
  Shard& shard = shard_of(number);
  while (true) {
    std::uint64_t drops = 0;
    {
      const std::lock_guard hold(shard.mutex);
      drops = shard.drops;
    }
    Block kept{};
    if (!source_->read_block(number, kept)) kept = {};
    Lsn lsn = kept[at];
    {
      const std::lock_guard hold(shard.mutex);
      // The block may have been changed, written and dropped since it was read.
      if (shard.drops != drops) continue;
      if (Entry* const entry = find_or_make(shard, number)) {
        if (!entry->is_loaded) {
          for (std::size_t i = 0; i < kBlockPages; ++i)
            entry->lsns[i] = std::max(entry->lsns[i], kept[i]);
          entry->is_loaded = true;
        }
        lsn = entry->lsns[at];
      }
    }
    trim();
    return lsn;
  }
}

void WrittenLsns::pin(PageId page) noexcept {
  const std::uint64_t number = raw(page) / kBlockPages;
  Shard& shard = shard_of(number);
  const std::lock_guard hold(shard.mutex);
  if (Entry* const entry = find_or_make(shard, number)) entry->is_pinned = true;
}

std::vector<std::uint64_t> WrittenLsns::changed_blocks() const {
  std::vector<std::uint64_t> changed;
  for (Shard& shard : shards_) {
    const std::lock_guard hold(shard.mutex);
    for (const auto& [number, entry] : shard.blocks)
      if (entry->is_changed) changed.push_back(number);
  }
  // Sorted, for the device.
  std::ranges::sort(changed);
  return changed;
}

/// Pre: `saving_` is held, so that the block stays in memory.
void WrittenLsns::save(std::uint64_t number) const noexcept {
  bring_in(PageId{number * kBlockPages});
  Block copy;
  Shard& shard = shard_of(number);
  {
    const std::lock_guard hold(shard.mutex);
    Entry& entry = *shard.blocks.at(number);
    if (!entry.is_loaded || !entry.is_changed) return;
    entry.is_changed = false;
    copy = entry.lsns;
  }
  if (source_->write_block(number, copy)) return;
  const std::lock_guard hold(shard.mutex);
  shard.blocks.at(number)->is_changed = true;
}

void WrittenLsns::save_changed() const noexcept {
  if (source_ == nullptr) return;
  const std::lock_guard hold(saving_);
  try {
    for (const std::uint64_t number : changed_blocks()) save(number);
  } catch (const std::bad_alloc&) {
    // The next checkpoint tries again.
  }
}

/// Second chance. Pre: `saving_` is held.
void WrittenLsns::drop_unused() const noexcept {
  const std::uint64_t wanted = most_blocks_ - most_blocks_ / 4;
  for (int round = 0; round < 2; ++round) {
    for (Shard& shard : shards_) {
      const std::lock_guard hold(shard.mutex);
      const std::size_t dropped = std::erase_if(shard.blocks, [&](const auto& block) {
        Entry& entry = *block.second;
        if (blocks_.load(std::memory_order_relaxed) <= wanted) return false;
        if (entry.is_pinned || entry.is_changed || !entry.is_loaded) return false;
        if (std::exchange(entry.was_used, false)) return false;
        blocks_.fetch_sub(1, std::memory_order_relaxed);
        return true;
      });
      if (dropped != 0) ++shard.drops;
    }
  }
}

void WrittenLsns::trim() const noexcept {
  if (blocks_in_memory() <= most_blocks_ || source_ == nullptr || !saving_.try_lock()) return;
  const std::lock_guard hold(saving_, std::adopt_lock);
  drop_unused();
  if (blocks_in_memory() <= most_blocks_) return;
  try {
    for (const std::uint64_t number : changed_blocks()) save(number);
  } catch (const std::bad_alloc&) {
    return;
  }
  drop_unused();
}

}  // namespace swizzle
