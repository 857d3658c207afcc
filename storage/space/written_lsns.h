#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/ids.h"

namespace swizzle {

/// LSN of each page at its last write, as far as known. A write that the device has acknowledged
/// and lost leaves an older page in its place, whole by checksum and number; this LSN reveals it
/// when the page is read. Eight bytes for each page written, in chunks. Thread-safe; a read during
/// a write of the page returns either LSN.
class WrittenLsns {
 public:
  WrittenLsns() noexcept = default;
  WrittenLsns(const WrittenLsns&) = delete;
  WrittenLsns& operator=(const WrittenLsns&) = delete;
  ~WrittenLsns();

  /// It is durable in its place, or must be at least that new to be believed. Never goes back; what
  /// there is no memory for is not known.
  void note(PageId page, Lsn lsn) noexcept;
  /// None: no write is known.
  [[nodiscard]] Lsn of(PageId page) const noexcept;

  // Copy on disk, so that the LSNs are known at the next start as well: in blocks of so many pages
  // each. The first block begins with page 0.

  static constexpr std::size_t kBlockPages = 511;
  using Block = std::array<Lsn, kBlockPages>;
  /// Takes a block from disk. Pre: the volume is not in use yet.
  void adopt(std::uint64_t number, std::span<const Lsn, kBlockPages> block) noexcept;
  /// Calls `keep(std::uint64_t number, const Block& block)`, which returns whether it did so, for
  /// each block that has changed since it was kept. One caller at a time.
  template <class Keep>
  void keep_changed(Keep&& keep) {
    for (std::uint64_t index = 0; index < kChunks; ++index) {
      Chunk* const chunk = chunks_[index].load(std::memory_order_acquire);
      if (chunk == nullptr) continue;
      for (std::uint64_t number = 0; number < kChunkBlocks; ++number) {
        const std::uint64_t bit = std::uint64_t{1} << number % 64;
        std::atomic<std::uint64_t>& changed = chunk->changed[number / 64];
        // Acquire: changes that were noted before the bit was set are in the copy.
        if ((changed.load(std::memory_order_relaxed) & bit) == 0 ||
            (changed.fetch_and(~bit, std::memory_order_acquire) & bit) == 0)
          continue;
        if (!keep(index * kChunkBlocks + number, copy_of(*chunk, number)))
          changed.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  }

 private:
  static constexpr std::uint64_t kChunkBlocks = 128;
  static constexpr std::uint64_t kChunkPages = kChunkBlocks * kBlockPages;
  /// Pages behind two terabytes are not known.
  static constexpr std::size_t kChunks = std::size_t{1} << 12U;
  struct Chunk {
    std::array<std::atomic<Lsn>, kChunkPages> lsns{};
    std::array<std::atomic<std::uint64_t>, kChunkBlocks / 64> changed{};
  };

  static Block copy_of(const Chunk& chunk, std::uint64_t number) noexcept;
  Chunk* chunk_for(std::size_t index) noexcept;

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
};

}  // namespace swizzle
