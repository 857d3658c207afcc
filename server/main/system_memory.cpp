#include "server/main/system_memory.h"

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

}  // namespace swizzle::server
