#include "lock/internal/entry_chunk.h"

#include "base/invariant.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace swizzle::lock {

void make_fresh(EntryChunk& chunk) noexcept {
  INVARIANT(chunk.live == 0);
  chunk.used = 0;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(chunk.entries, sizeof chunk.entries);
#endif
}

void unpoison([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(from, bytes);
#endif
}

}  // namespace swizzle::lock
