#include "base/memory/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace swizzle {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  constexpr std::size_t kWorthIt = std::size_t{8} << 20U;
  if (bytes < kWorthIt) return;
  // Rounded to whole pages of this memory, because the pages at its ends are shared with
  // neighbours.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
}

}  // namespace swizzle
