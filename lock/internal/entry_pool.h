#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/runtime/spin_latch.h"
#include "lock/internal/chunk_slabs.h"
#include "lock/internal/entry_chunk.h"
#include "lock/internal/reader_epochs.h"

namespace swizzle::lock {

/// Source of chunks for arenas, and destination of those that an arena has too many of.
/// Thread-safe.
class EntryPool {
 public:
  /// `entries_per_chunk` <= EntryChunk::kEntries; tests make generations tiny.
  EntryPool(ReaderEpochs& epochs, std::uint32_t entries_per_chunk) noexcept;
  EntryPool(const EntryPool&) = delete;
  EntryPool& operator=(const EntryPool&) = delete;
  ~EntryPool();

  [[nodiscard]] EntryChunk* take();
  /// `chunk` is stamped; it may still have readers.
  void retire(EntryChunk* chunk) noexcept;
  /// Unmaps the memory that no reader can see any more.
  void collect() noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return chunks_.load(std::memory_order_relaxed) * EntryChunk::kBytes;
  }
  [[nodiscard]] std::uint32_t entries_per_chunk() const noexcept { return entries_per_chunk_; }
  [[nodiscard]] ReaderEpochs& epochs() const noexcept { return epochs_; }

 private:
  struct ChunkList {
    EntryChunk* first = nullptr;
    EntryChunk* last = nullptr;
    std::size_t size = 0;
    void push_back(EntryChunk* chunk) noexcept;
    EntryChunk* pop_front() noexcept;
  };
  static constexpr std::size_t kCollectEvery = 256;

  ReaderEpochs& epochs_;
  const std::uint32_t entries_per_chunk_;
  std::atomic<std::size_t> chunks_{0};
  BasicSpinLatch<NoPauses> latch_;
  ChunkSlabs slabs_;   // latch_
  ChunkList retired_;  // latch_; oldest stamp first, nearly
};

/// An owner's entries. Not thread-safe. In the steady state it reuses its own few chunks and
/// touches neither the heap nor the pool.
class EntryArena {
 public:
  explicit EntryArena(EntryPool& pool) noexcept : pool_(&pool) {}
  EntryArena(const EntryArena&) = delete;
  EntryArena& operator=(const EntryArena&) = delete;
  /// Pre: every entry was released.
  ~EntryArena();

  [[nodiscard]] Entry& make() {
    if (current_ == nullptr || current_->used == pool_->entries_per_chunk()) next_chunk();
    ++current_->live;
    return handed_out(current_->entries[current_->used++]);
  }

  /// Pre: `entry` is obsolete and no longer linked.
  void release(Entry& entry) noexcept {
    EntryChunk& chunk = EntryChunk::of(entry);
    if (--chunk.live == 0 && &chunk != current_) retire(chunk);
  }

  /// Gives back the chunks that a large transaction needed beyond the usual.
  void trim() noexcept;

 private:
  /// Number of chunks that become free at a time; only then does the epoch advance, since its cache
  /// line is shared by all threads. All together still fit a third of a processor's first cache.
  static constexpr std::size_t kKept = 7;

  static Entry& handed_out(Entry& entry) noexcept;
  void next_chunk();
  void retire(EntryChunk& chunk) noexcept;

  EntryPool* pool_;
  EntryChunk* current_ = nullptr;
  // Retired chunks waiting for their readers, oldest first.
  EntryChunk* oldest_ = nullptr;
  EntryChunk* newest_ = nullptr;
  std::size_t kept_ = 0;
  bool gave_away_ = false;
};

}  // namespace swizzle::lock
