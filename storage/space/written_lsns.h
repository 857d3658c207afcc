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

/// LSN of each page at its last write, as far as known. If a device acknowledges a write and loses
/// it, the older page is whole by checksum and number; this LSN reveals it when the page is read.
/// Kept in blocks, of which a bounded number is in memory: the others are in the file and are read
/// when one of their pages is. Thread-safe; a read during a write of the page returns either LSN.
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
    /// Returns false if nothing is known of these pages. Parks.
    virtual bool read_block(std::uint64_t number, Block& into) noexcept = 0;
    /// Returns false if the block was not written, and must stay in memory. Parks.
    virtual bool write_block(std::uint64_t number, const Block& block) noexcept = 0;
  };

  WrittenLsns() noexcept = default;
  WrittenLsns(const WrittenLsns&) = delete;
  WrittenLsns& operator=(const WrittenLsns&) = delete;

  /// Without a source, or with null, everything is kept in memory. Pre: the volume is not in use
  /// yet, or not any more.
  void set_source(Source* source) noexcept { source_ = source; }
  /// Pre: as before.
  void set_most_bytes(std::uint64_t bytes) noexcept {
    most_blocks_ = std::max<std::uint64_t>(bytes / sizeof(Entry), kLeastBlocks);
  }

  /// Notes that the page is durable at `lsn`, or must be at least that new to be valid. Never goes
  /// back; forgotten if there is no memory. Never parks.
  void note(PageId page, Lsn lsn) noexcept;
  /// Returns none if no write is known. Reads the block if it is not in memory, and parks for that.
  [[nodiscard]] Lsn of(PageId page) const noexcept;
  /// The same from memory alone; none if the block is not there. Never parks.
  [[nodiscard]] Lsn in_memory(PageId page) const noexcept;
  /// Reads the block of a page. Parks.
  void bring_in(PageId page) const noexcept { static_cast<void>(of(page)); }
  /// Keeps the page's block in memory once it has been read.
  void pin(PageId page) noexcept;

  /// Writes the blocks that have changed since they were written. Parks.
  void save_changed() const noexcept;
  /// Evicts blocks that were not used lately if too many are in memory; writes changed ones first.
  /// Parks.
  void trim() const noexcept;
  [[nodiscard]] std::uint64_t blocks_in_memory() const noexcept {
    return blocks_.load(std::memory_order_relaxed);
  }

  /// For completion handlers of the device, which must not park. While it lives, of() says for a
  /// block that is not in memory that the page is not new enough, so that a thread that may park
  /// reads the page again.
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
    bool is_loaded = false;  ///< the source's content is merged in
    bool is_changed = false;
    bool is_pinned = false;
    bool was_used = true;
  };
  struct alignas(64) Shard {
    SpinLatch mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> blocks;
    /// Number of dropped blocks: a copy that was read before a drop may be older than the dropped
    /// one.
    std::uint64_t drops = 0;
  };
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint64_t kLeastBlocks = 64;

  [[nodiscard]] Shard& shard_of(std::uint64_t number) const noexcept {
    return shards_[number % kShards];
  }
  /// Returns null if there is no memory. Pre: the shard's mutex is held.
  Entry* find_or_make(Shard& shard, std::uint64_t number) const noexcept;
  [[nodiscard]] Lsn read(std::uint64_t number, std::size_t at) const noexcept;
  void save(std::uint64_t number) const noexcept;
  [[nodiscard]] std::vector<std::uint64_t> changed_blocks() const;
  void drop_unused() const noexcept;

  Source* source_ = nullptr;
  std::uint64_t most_blocks_ = UINT64_MAX;
  mutable std::array<Shard, kShards> shards_;
  mutable std::atomic<std::uint64_t> blocks_{0};
  /// Held by the thread that writes or drops blocks.
  mutable ParkMutex saving_;
};

}  // namespace swizzle
