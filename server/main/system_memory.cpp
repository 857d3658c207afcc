#include "server/main/system_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace swizzle::server {

std::uint64_t system_memory_bytes() {
  std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  // Of a container this is its own; "max", which is no number, where there is no limit.
  std::uint64_t limit = 0;
  if (std::ifstream{"/sys/fs/cgroup/memory.max"} >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

void give_back_freed_memory() noexcept {
  // By itself the allocator would keep pieces of up to 32 MiB once it has seen one freed, in each
  // thread's own heap: after large statements the process stayed twice as large as their limit.
  constexpr int kLarge = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

}  // namespace swizzle::server
