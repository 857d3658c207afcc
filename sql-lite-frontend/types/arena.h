#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/sanitizers.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Memory that is freed all at once. Not thread-safe. Destructors of objects in it are not called,
/// so only trivially destructible objects may be placed here. AddressSanitizer reports accesses to
/// memory that was not allocated, or was freed by reset() or rewind().
class Arena {
 public:
  static constexpr std::size_t kDefaultChunkBytes = 8192;

  explicit Arena(std::size_t chunk_bytes = kDefaultChunkBytes) noexcept
      : chunk_bytes_{chunk_bytes} {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  /// Takes the memory and the account of the other arena, which is empty afterwards.
  Arena(Arena&& other) noexcept { swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    if (this == &other) return *this;
    release();
    account_ = nullptr;
    swap(other);
    return *this;
  }
  ~Arena() { release(); }

  /// Charges the arena's heap memory to the account from now on. The account outlives the arena.
  /// Pre: the arena is empty, or is charged to this account already.
  void count_in(MemoryAccount* account) noexcept;
  [[nodiscard]] MemoryAccount* account() const noexcept { return account_; }

  /// Never returns null; zero bytes are allowed. Pre: `alignment` is a power of two, at most 16.
  std::byte* allocate(std::size_t bytes, std::size_t alignment = 8) {
    const std::size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (start + bytes > capacity_) [[unlikely]]
      return allocate_slow(bytes, alignment);
    used_ = start + bytes;
    unpoison(base_ + start, bytes);
    return base_ + start;
  }

  template <class T>
  T* allocate_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(count * sizeof(T), alignof(T))) T[count];
  }

  Bytes copy(Bytes bytes) {
    if (bytes.size() >= kLongCopy) [[unlikely]]
      return copy_in_pieces(bytes);
    std::byte* to = allocate(bytes.size(), 1);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }
  std::string_view copy(std::string_view text) { return as_text(copy(as_bytes(text))); }

  /// Frees all allocations but keeps up to kKeptBytes of the memory for reuse.
  void reset() noexcept;
  /// Frees all allocations and the memory.
  void release() noexcept;

  /// Position in the arena: rewind() frees everything that was allocated after it.
  struct Mark {
    std::size_t chunk;
    std::size_t used;
  };
  [[nodiscard]] Mark mark() const noexcept { return {current_, used_}; }
  /// Pre: `mark` is of this arena, and neither reset() nor a rewind() to an earlier mark has been
  /// called since.
  void rewind(Mark mark) noexcept;

  /// Returns the arena's heap memory in bytes, for memory accounting.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }

  static constexpr std::size_t kKeptBytes = 1U << 20U;

 private:
  /// Copies larger than this let other fibers run in between.
  static constexpr std::size_t kLongCopy = std::size_t{1} << 20U;
  Bytes copy_in_pieces(Bytes bytes);
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size = 0;
  };

  std::byte* allocate_slow(std::size_t bytes, std::size_t alignment);
  void enter(std::size_t chunk) noexcept;
  void drop_from(std::size_t chunk) noexcept;
  void swap(Arena& other) noexcept;
  void poison_behind(Mark mark) noexcept;

  /// Address for empty results: even zero bytes have a non-null address.
  static inline std::byte nothing{};

  std::byte* base_ = &nothing;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
  std::size_t current_ = 0;
  std::size_t chunk_bytes_ = kDefaultChunkBytes;
  std::size_t reserved_bytes_ = 0;
  MemoryAccount* account_ = nullptr;
  std::vector<Chunk> chunks_;
};

}  // namespace swizzle::sql
