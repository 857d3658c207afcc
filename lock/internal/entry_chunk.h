#pragma once

#include <cstddef>
#include <cstdint>

#include "lock/internal/entry.h"

namespace swizzle::lock {

/// A generation of entries: allocated one after the other, reused all at once. Belongs to one arena
/// at a time. Found from an entry by its address.
struct EntryChunk {
  static constexpr std::size_t kBytes = 2048;  // and its alignment
  static constexpr std::uint32_t kEntries = 36;

  EntryChunk* next = nullptr;
  std::uint64_t stamp = 0;  // the epoch in which the last entry was released
  std::uint32_t used = 0;   // allocated so far
  std::uint32_t live = 0;   // allocated and not yet released
  Entry entries[kEntries];

  static EntryChunk& of(Entry& entry) noexcept {
    return *reinterpret_cast<EntryChunk*>(reinterpret_cast<std::uintptr_t>(&entry) &
                                          ~std::uintptr_t{kBytes - 1});
  }
};
static_assert(sizeof(EntryChunk) <= EntryChunk::kBytes);

/// Pre: no reader can see any entry of the chunk. Entries are poisoned until they are allocated
/// again, so that AddressSanitizer reports a reader that outstayed its epoch.
void make_fresh(EntryChunk& chunk) noexcept;
void unpoison(const void* from, std::size_t bytes) noexcept;

}  // namespace swizzle::lock
