#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/runtime/park_mutex.h"
#include "storage/latch/spin_latch.h"

namespace swizzle {

/// LSN of each page at its last write, as far as known. A write that the device has acknowledged
/// and lost leaves an older page in its place, whole by checksum and number; this LSN reveals it
/// when the page is read. In blocks, of which a bounded number is in memory: the others lie in the
/// file and come back when one of their pages is asked for. Thread-safe; a read during a write of
/// the page returns either LSN.
class WrittenLsns {
 public:
  /// The first block begins with page 0.
  static constexpr std::size_t kBlockPages = 511;
  using Block = std::array<Lsn, kBlockPages>;

  /// Storage of the blocks that are not in memory.
  class Source {
   public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;
    /// False: nothing is known of these pages. Parks.
    virtual bool read_block(std::uint64_t number, Block& into) noexcept = 0;
    /// False: the block is not kept, and stays in memory. Parks.
    virtual bool write_block(std::uint64_t number, const Block& block) noexcept = 0;
  };

  WrittenLsns() noexcept = default;
  WrittenLsns(const WrittenLsns&) = delete;
  WrittenLsns& operator=(const WrittenLsns&) = delete;

  /// Without a source, or with null, all is kept in memory. Pre: the volume is not in use yet, or
  /// not any more.
  void set_source(Source* source) noexcept { source_ = source; }
  /// Pre: as before.
  void set_most_bytes(std::uint64_t bytes) noexcept {
    most_blocks_ = std::max<std::uint64_t>(bytes / sizeof(Entry), kLeastBlocks);
  }

  /// It is durable in its place, or must be at least that new to be believed. Never goes back; what
  /// there is no memory for is not known. Never parks.
  void note(PageId page, Lsn lsn) noexcept;
  /// None: no write is known. Reads the block if it is not in memory; parks then.
  [[nodiscard]] Lsn of(PageId page) const noexcept;
  /// The same from memory alone; none where that has nothing. Never parks.
  [[nodiscard]] Lsn in_memory(PageId page) const noexcept;
  /// Has read the block of a page. Parks.
  void bring_in(PageId page) const noexcept { static_cast<void>(of(page)); }
  /// The block of the page, once it is in memory, stays there.
  void pin(PageId page) noexcept;

  /// Writes the blocks that have changed since they were written. Parks.
  void save_changed() const noexcept;
  /// Drops blocks that were not asked for lately, if too many are in memory; changed ones are
  /// written before. Parks.
  void trim() const noexcept;
  [[nodiscard]] std::uint64_t blocks_in_memory() const noexcept {
    return blocks_.load(std::memory_order_relaxed);
  }

  /// For handlers of the device's answers, which must not park: in its lifetime of() says, for a
  /// block that is not in memory, that the page is not new enough. So it is read again by somebody
  /// who may.
  class NoReading {
   public:
    NoReading() noexcept;
    NoReading(const NoReading&) = delete;
    NoReading& operator=(const NoReading&) = delete;
    ~NoReading();
  };

 private:
  struct Entry {
    Block lsns{};
    bool is_loaded = false;  ///< what the source has is in it
    bool is_changed = false;
    bool is_pinned = false;
    bool was_used = true;
  };
  struct alignas(64) Shard {
    SpinLatch mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> blocks;
    /// Counts what was dropped: a copy that was read before that may be older than what was.
    std::uint64_t drops = 0;
  };
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint64_t kLeastBlocks = 64;

  [[nodiscard]] Shard& shard_of(std::uint64_t number) const noexcept {
    return shards_[number % kShards];
  }
  /// Null: no memory. Pre: the shard's mutex is held.
  Entry* find_or_make(Shard& shard, std::uint64_t number) const noexcept;
  [[nodiscard]] Lsn read(std::uint64_t number, std::size_t at) const noexcept;
  void save(std::uint64_t number) const noexcept;
  [[nodiscard]] std::vector<std::uint64_t> changed_blocks() const;
  void drop_unused() const noexcept;

  Source* source_ = nullptr;
  std::uint64_t most_blocks_ = UINT64_MAX;
  mutable std::array<Shard, kShards> shards_;
  mutable std::atomic<std::uint64_t> blocks_{0};
  /// Held by the one who writes or drops blocks.
  mutable ParkMutex saving_;
};

}  // namespace swizzle
