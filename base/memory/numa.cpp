#include "base/memory/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace swizzle {
namespace {

constexpr std::uint32_t kMostNodes = 64;

std::uint32_t count_nodes() noexcept {
  // Nodes are numbered from 0; on a machine with gaps the ones after the first gap are not used.
  std::uint32_t count = 0;
  std::error_code error;
  while (count < kMostNodes &&
         std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(count), error))
    ++count;
  return count == 0 ? 1 : count;
}

}  // namespace

std::uint32_t Numa::node_count() noexcept {
  static const std::uint32_t count = count_nodes();
  return count;
}

std::uint32_t Numa::node_of_caller() noexcept {
  if (node_count() == 1) return 0;
  unsigned processor = 0;
  unsigned node = 0;
  if (syscall(SYS_getcpu, &processor, &node, nullptr) != 0) return 0;
  return node < node_count() ? node : 0;
}

void Numa::prefer(std::byte* begin, std::size_t bytes, std::uint32_t node) noexcept {
  if (node_count() == 1) return;
  const unsigned long mask = 1UL << node;
  // If it is refused, the system chooses the node.
  (void)syscall(SYS_mbind, begin, bytes, MPOL_PREFERRED, &mask, kMostNodes, 0U);
}

}  // namespace swizzle
