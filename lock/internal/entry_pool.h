#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "lock/internal/entry.h"
#include "lock/internal/reader_epochs.h"
#include "lock/internal/spin_latch.h"

namespace swizzle::lock {

/// A generation of entries: handed out one after the other, reused all at once. Belongs to one
/// arena at a time. Found from an entry by its address.
struct EntryChunk {
  static constexpr std::size_t kBytes = 2048;
  static constexpr std::uint32_t kEntries = 36;

  EntryChunk* next = nullptr;
  std::uint64_t stamp = 0;  // the epoch in which the last entry was released
  std::uint32_t used = 0;   // handed out so far
  std::uint32_t live = 0;   // handed out and not yet released
  Entry entries[kEntries];

  static EntryChunk& of(Entry& entry) noexcept {
    return *reinterpret_cast<EntryChunk*>(reinterpret_cast<std::uintptr_t>(&entry) &
                                          ~std::uintptr_t{kBytes - 1});
  }
};
static_assert(sizeof(EntryChunk) <= EntryChunk::kBytes);

/// Where chunks come from and go to when an arena has more than it keeps. Thread-safe.
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
  /// Gives back to the system what no reader can still see, beyond a small reserve.
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
  static constexpr std::size_t kReserve = 64;
  static constexpr std::size_t kCollectEvery = 256;

  static EntryChunk* allocate();
  static void release(EntryChunk* chunk) noexcept;

  ReaderEpochs& epochs_;
  const std::uint32_t entries_per_chunk_;
  std::atomic<std::size_t> chunks_{0};
  SpinLatch latch_;
  ChunkList free_;     // latch_
  ChunkList retired_;  // latch_; oldest stamp first, nearly
};

/// An owner's entries. Not thread-safe. In the steady state it turns over its own few chunks and
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

  /// Gives back what a large transaction needed beyond the usual.
  void trim() noexcept;

 private:
  static constexpr std::size_t kKept = 3;

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
