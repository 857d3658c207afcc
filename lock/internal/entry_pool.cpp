#include "lock/internal/entry_pool.h"

#include "base/invariant.h"

namespace swizzle::lock {

void EntryPool::ChunkList::push_back(EntryChunk* chunk) noexcept {
  chunk->next = nullptr;
  (last == nullptr ? first : last->next) = chunk;
  last = chunk;
  ++size;
}

EntryChunk* EntryPool::ChunkList::pop_front() noexcept {
  EntryChunk* chunk = first;
  first = chunk->next;
  if (first == nullptr) last = nullptr;
  --size;
  return chunk;
}

EntryPool::EntryPool(ReaderEpochs& epochs, std::uint32_t entries_per_chunk) noexcept
    : epochs_(epochs), entries_per_chunk_(entries_per_chunk) {
  INVARIANT(entries_per_chunk >= 1 && entries_per_chunk <= EntryChunk::kEntries);
}

EntryPool::~EntryPool() {
  while (retired_.size != 0) {
    if (auto* slab = slabs_.give_back(retired_.pop_front())) ChunkSlabs::unmap(slab);
  }
}

EntryChunk* EntryPool::take() {
  ChunkSlabs::Slab* fresh = nullptr;
  for (;;) {
    latch_.lock();
    if (fresh != nullptr) slabs_.add(fresh);
    EntryChunk* chunk = nullptr;
    if (retired_.size != 0 && epochs_.is_past(retired_.first->stamp)) {
      chunk = retired_.pop_front();
      make_fresh(*chunk);
    } else {
      chunk = slabs_.take();
      if (chunk != nullptr) chunks_.fetch_add(1, std::memory_order_relaxed);
    }
    latch_.unlock();
    if (chunk != nullptr) return chunk;
    fresh = ChunkSlabs::map();
  }
}

void EntryPool::retire(EntryChunk* chunk) noexcept {
  latch_.lock();
  retired_.push_back(chunk);
  const bool many = retired_.size % kCollectEvery == 0;
  latch_.unlock();
  if (many) collect();
}

void EntryPool::collect() noexcept {
  epochs_.try_advance();
  epochs_.try_advance();
  ChunkSlabs::Slab* surplus = nullptr;
  do {
    surplus = nullptr;
    latch_.lock();
    while (surplus == nullptr && retired_.size != 0 && epochs_.is_past(retired_.first->stamp)) {
      surplus = slabs_.give_back(retired_.pop_front());
      chunks_.fetch_sub(1, std::memory_order_relaxed);
    }
    latch_.unlock();
    if (surplus != nullptr) ChunkSlabs::unmap(surplus);
  } while (surplus != nullptr);
}

EntryArena::~EntryArena() {
  if (current_ != nullptr) {
    INVARIANT(current_->live == 0);
    current_->stamp = pool_->epochs().now();
    pool_->retire(current_);
  }
  while (oldest_ != nullptr) {
    EntryChunk* chunk = oldest_;
    oldest_ = chunk->next;
    pool_->retire(chunk);
  }
  // An owner that stays below kKept never calls the pool. So each owner that ends collects, to free
  // the memory of an earlier load.
  pool_->collect();
}

Entry& EntryArena::handed_out(Entry& entry) noexcept {
  unpoison(&entry, sizeof entry);
  return entry;
}

void EntryArena::next_chunk() {
  EntryChunk* full = current_;
  ReaderEpochs& epochs = pool_->epochs();
  if (kept_ == kKept)
    while (!epochs.is_past(oldest_->stamp) && epochs.try_advance()) {
    }
  if (oldest_ != nullptr && epochs.is_past(oldest_->stamp)) {
    current_ = oldest_;
    oldest_ = oldest_->next;
    if (oldest_ == nullptr) newest_ = nullptr;
    --kept_;
    make_fresh(*current_);
  } else {
    current_ = pool_->take();
  }
  // Last: a chunk is retired either here or, once it is no longer current, by release().
  if (full != nullptr && full->live == 0) retire(*full);
}

void EntryArena::retire(EntryChunk& chunk) noexcept {
  chunk.stamp = pool_->epochs().now();
  chunk.next = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->next) = &chunk;
  newest_ = &chunk;
  if (++kept_ <= kKept) return;
  EntryChunk* surplus = oldest_;
  oldest_ = surplus->next;
  --kept_;
  pool_->retire(surplus);
  gave_away_ = true;
}

void EntryArena::trim() noexcept {
  if (!gave_away_) return;
  gave_away_ = false;
  pool_->collect();
}

}  // namespace swizzle::lock
