#include "server/main/system_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "server/main/control_group.h"

namespace swizzle::server {

std::uint64_t system_memory_bytes(const std::filesystem::path& root) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(bytes, control_group_limits(root).memory_bytes.value_or(bytes));
}

std::size_t system_processors(const std::filesystem::path& root) {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const auto limit = control_group_limits(root).processors;
  if (!limit || *limit >= static_cast<double>(processors)) return processors;
  return std::max(std::size_t{1}, static_cast<std::size_t>(std::ceil(*limit)));
}

MemoryDefaults memory_defaults(std::uint64_t system_bytes) {
  constexpr std::uint64_t kUsual = std::uint64_t{1} << 30U;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20U;
  return {std::clamp(system_bytes / 4, kLeast, kUsual),
          std::clamp(system_bytes / 8, kLeast, kUsual)};
}

std::uint64_t statement_memory(std::uint64_t system_bytes, std::uint64_t pool_bytes) {
  return std::max(system_bytes / 8, (system_bytes - std::min(system_bytes, pool_bytes)) / 2);
}

void give_back_freed_memory() noexcept {
  // By default the allocator would keep freed pieces of up to 32 MiB in each thread's heap: after
  // large statements the process stayed twice as large as their limit.
  constexpr int kLarge = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

}  // namespace swizzle::server
