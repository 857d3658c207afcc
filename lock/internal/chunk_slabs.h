#pragma once

#include <cstddef>
#include <cstdint>

#include "lock/internal/entry_chunk.h"

namespace swizzle::lock {

/// Chunks cut from slabs that are mapped and unmapped whole. A general allocator would keep the
/// memory of a large transaction, in pieces that it cannot return to the system. Not thread-safe,
/// except map() and unmap(), which are the slow part.
class ChunkSlabs {
 public:
  static constexpr std::size_t kBytes = std::size_t{128} << 10;
  static constexpr std::uint32_t kChunks = kBytes / EntryChunk::kBytes - 1;

  /// Header in the place of a slab's first chunk.
  struct Slab {
    Slab* next = nullptr;
    Slab* previous = nullptr;
    EntryChunk* free = nullptr;
    std::uint32_t used = 0;
  };

  ChunkSlabs() = default;
  ChunkSlabs(const ChunkSlabs&) = delete;
  ChunkSlabs& operator=(const ChunkSlabs&) = delete;
  /// Pre: every chunk was given back.
  ~ChunkSlabs();

  static Slab* map();
  static void unmap(Slab* slab) noexcept;

  void add(Slab* slab) noexcept;
  /// Takes a chunk. Returns null if a slab must be added first.
  [[nodiscard]] EntryChunk* take() noexcept;
  /// Returns the slab if it is unused now and the caller must unmap it, or null.
  [[nodiscard]] Slab* give_back(EntryChunk* chunk) noexcept;

 private:
  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  Slab* partial_ = nullptr;  // those with a free chunk
  Slab* spare_ = nullptr;    // a wholly free one, so that a load at the limit maps nothing
};

}  // namespace swizzle::lock
