#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/bytes.h"

namespace swizzle::bench {

/// Limits the resident part of a memory map to `limit` bytes: a thread monitors the process's
/// file-backed memory and pages out random 64 KiB pieces of the map while there is too much.
///
/// Simulates a machine with less memory. Like the kernel's reclaim it knows nothing of a page's
/// role in the tree; unlike it, it ignores accessed bits. Prefer a control group with a memory
/// limit if there is one (a container with --memory).
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
