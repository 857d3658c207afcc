#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/bytes.h"

namespace swizzle::bench {

/// Keeps a memory map from having more than `limit` bytes resident: a thread watches the process's
/// file-backed memory and pages out random 64 KiB pieces of the map while there is too much.
///
/// This stands in for a machine with less memory. Like the kernel's own reclaim it knows nothing of
/// what a page means to the tree; unlike it, it does not look at accessed bits, so where a control
/// group with a memory limit is at hand (a container with --memory), prefer that.
class ResidencyLimit {
 public:
  ResidencyLimit(MutableBytes map, std::uint64_t limit);
  ResidencyLimit(const ResidencyLimit&) = delete;
  ResidencyLimit& operator=(const ResidencyLimit&) = delete;
  ~ResidencyLimit();

 private:
  void run();

  MutableBytes map_;
  std::uint64_t limit_;
  std::atomic<bool> stop_{false};
  std::jthread thread_;
};

}  // namespace swizzle::bench
