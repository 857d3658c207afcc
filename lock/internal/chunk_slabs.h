#pragma once

#include <cstddef>
#include <cstdint>

#include "lock/internal/entry_chunk.h"

namespace swizzle::lock {

/// Chunks cut from slabs that the system gave and gets back whole. A general allocator would keep
/// what a large transaction needed, in pieces that it cannot return. Not thread-safe, except map()
/// and unmap(), which are the slow part.
class ChunkSlabs {
 public:
  static constexpr std::size_t kBytes = std::size_t{128} << 10;
  static constexpr std::uint32_t kChunks = kBytes / EntryChunk::kBytes - 1;

  /// Lies in the place of a slab's first chunk.
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
  /// Null: a slab has to be added first.
  [[nodiscard]] EntryChunk* take() noexcept;
  /// Returns a slab that nobody needs any more and that the caller unmaps, or null.
  [[nodiscard]] Slab* give_back(EntryChunk* chunk) noexcept;

 private:
  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  Slab* partial_ = nullptr;  // those with a free chunk
  Slab* spare_ = nullptr;    // one that is wholly free, so that a load at the limit maps nothing
};

}  // namespace swizzle::lock
